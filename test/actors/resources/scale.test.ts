import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { findVisibleResource, findVisibleResourceAt } from "../../../actors/access/visibility/resource.queries.js";
import type { PersonCaller } from "../../../actors/caller.js";
import { createKinds } from "../../../actors/catalogue.js";
import type { WorkFact } from "../../../actors/events/catalogue.js";
import { afterEventSubscriber } from "../../../actors/hooks/matching/fire-hooks.js";
import { parseAllowList } from "../../../actors/outbound/http/allow-list.js";
import { isRefusal, type Refusal } from "../../../actors/refusal.js";
import type { Kind } from "../../../actors/resources/kind.js";
import { createResource, deleteResource, updateResource } from "../../../actors/resources/operations.js";
import { toRepresentation } from "../../../actors/resources/representation.js";
import type { CreateResource, WriteResult } from "../../../actors/resources/resource.messages.js";
import { putMember } from "../../../actors/workspaces/member.table.js";
import { address } from "../../../runtime/cells/address.js";
import { Overlays } from "../../../runtime/turns/overlays.js";
import type { Turn } from "../../../runtime/turns/turn.js";
import { openLmdbStore } from "../../../storage/lmdb-store.js";
import { CountingReading } from "../../support/counting-reading.js";
import { directedRows, withTurn } from "../../support/turn.js";

const kinds = createKinds({ allowList: parseAllowList("hooks.example.com"), signsTokens: false });
const caller: PersonCaller = { kind: "person", userId: "usr_1", email: "owner@example.com", sessionId: "ses_1" };
const LARGE = { hooks: 10_000, lines: 1_000 };
const SMALL = { hooks: 10, lines: 3 };
/** Rows per batch while a workspace is filled. */
const FLUSH_EVERY = 500;

function toKind(name: string): Kind {
  const kind = kinds.find((each) => each.name === name);
  if (kind === undefined) throw new Error(`no kind ${name}`);
  return kind;
}

const station = { key: "work", name: "Work", kind: "work" };
const line = (key: string) => ({ key, name: "Line", stations: [station, { ...station, key: `${key}-review` }] });
const hook = (key: string, on: string, lines: readonly string[]) => ({
  key,
  on,
  match: { lines },
  signing: { secretVersion: 1 },
  steps: [{ name: "tell", request: { url: "https://hooks.example.com/in" } }],
});

/** Workspaces in one store. The turns of a test write them, and every read of the store is counted. */
class Fixture {
  readonly store;
  readonly counting;
  readonly rows;
  #keys = 0;

  constructor(store: Awaited<ReturnType<typeof openLmdbStore>>) {
    this.store = store;
    this.counting = new CountingReading(store.reading);
    this.rows = directedRows(new Overlays(this.counting));
  }

  async flush(): Promise<void> {
    await this.store.commit([...this.rows.close().changes()]);
    this.rows.flushed();
  }

  turn(workspaceId: string, work: (turn: Turn) => WriteResult | Refusal): WriteResult {
    let result: WriteResult | Refusal | null = null;
    withTurn(
      address(workspaceId, "workspace", workspaceId),
      (turn) => {
        result = work(turn);
      },
      { rows: this.rows, seed: ++this.#keys },
    );
    const written = result as WriteResult | Refusal | null;
    if (written === null || isRefusal(written)) throw new Error(JSON.stringify(written));
    return written;
  }

  create(workspaceId: string, kindName: string, body: unknown, teamId: string | null = null): WriteResult {
    const kind = toKind(kindName);
    const message: CreateResource = {
      type: "resource.create",
      kind: kindName,
      caller,
      client: null,
      teamId,
      fields: kind.schema.parse(body),
      hidden: kindName === "hook" ? { "signing.secret": "sealed" } : {},
      idempotency: { scope: "s", key: `k-${workspaceId}-${this.#keys}`, digest: "d" },
    };
    return this.turn(workspaceId, (turn) => createResource(turn, kind, message));
  }

  async fill(workspaceId: string, size: typeof LARGE): Promise<string> {
    this.create(workspaceId, "workspace", { slug: workspaceId.replace("_", "-"), name: "W" });
    putMember(this.rows, workspaceId, {
      userId: caller.userId,
      email: caller.email,
      role: "owner",
      teams: [],
      since: "",
    });
    const team = this.create(workspaceId, "team", { key: "core", name: "Core" }).resource;
    for (let n = 0; n < size.lines; n++) {
      this.create(workspaceId, "line", line(`line-${n}`), team.id);
      if (n % FLUSH_EVERY === 0) await this.flush();
    }
    for (let n = 0; n < size.hooks; n++) {
      const on = n < 5 ? "run.ended" : "task.moved";
      this.create(workspaceId, "hook", hook(`hook-${n}`, on, ["line-0"]), team.id);
      if (n % FLUSH_EVERY === 0) await this.flush();
    }
    await this.flush();
    return team.id;
  }
}

/** Returns, for each operation on an existing workspace, how many rows it reads. */
async function readReads(fixture: Fixture, workspaceId: string, teamId: string): Promise<Record<string, number>> {
  const { counting } = fixture;
  const reads: Record<string, number> = {};
  const measured = async (name: string, work: () => unknown) => {
    await fixture.flush();
    reads[name] = counting.during(work);
  };
  const written: Record<string, WriteResult> = {};
  for (const [name, body, changed] of [
    ["hook", hook("new-hook", "run.ended", ["line-1"]), hook("new-hook", "task.moved", ["line-2"])],
    ["line", line("new-line"), { ...line("new-line"), name: "Changed" }],
  ] as const) {
    const kind = toKind(name);
    await measured(`create ${name}`, () => {
      written[name] = fixture.create(workspaceId, name, body, teamId);
    });
    const id = written[name]?.resource.id ?? "";
    await measured(`update ${name}`, () => {
      const fields = kind.schema.parse(changed);
      const update = {
        type: "resource.update",
        kind: name,
        caller,
        client: null,
        id,
        version: 1,
        fields,
        hidden: {},
      } as const;
      written[name] = fixture.turn(workspaceId, (turn) => updateResource(turn, kind, update));
    });
    await measured(`read ${name}`, () => {
      const row = findVisibleResource(kind, counting, caller, id);
      if (isRefusal(row)) throw new Error(name);
      toRepresentation(kind, row, counting);
    });
    await measured(`import ${name}`, () => {
      if (isRefusal(findVisibleResourceAt(kind, counting, caller, { workspaceId, address: `core/new-${name}` })))
        throw new Error(name);
    });
    await measured(`delete ${name}`, () => {
      const remove = { type: "resource.delete", kind: name, caller, client: null, id, version: 2 } as const;
      fixture.turn(workspaceId, (turn) => deleteResource(turn, kind, remove));
    });
  }
  await measured("hooks on an event", () => {
    const work = eventOn(workspaceId, teamId);
    const taken = withTurn(
      address(workspaceId, "task", "task_1"),
      (turn) => afterEventSubscriber.handle({ name: "run.ended", work } as WorkFact, turn),
      { rows: fixture.rows },
    );
    if (taken.sent.length !== 5) throw new Error(`${taken.sent.length} hooks fire`);
  });
  await measured("refused: a delete of what many use", () => {
    const found = findVisibleResourceAt(toKind("line"), counting, caller, { workspaceId, address: "core/line-0" });
    if (isRefusal(found)) throw new Error("no line");
    const remove = { type: "resource.delete", kind: "line", caller, client: null, id: found.id, version: 1 } as const;
    withTurn(
      address(workspaceId, "workspace", workspaceId),
      (turn) => {
        const refused = deleteResource(turn, toKind("line"), remove);
        if (!isRefusal(refused) || refused.refused !== "in-use") throw new Error("it is in use");
      },
      { rows: fixture.rows },
    );
  });
  return reads;
}

function eventOn(workspaceId: string, teamId: string): WorkFact["work"] {
  return {
    on: "run.ended",
    occurrence: "occ_1",
    workspaceId,
    teamId,
    lineId: "line_0",
    stationId: "sta_1",
    task: {
      id: "task_1",
      title: "",
      url: "",
      line: "line-0",
      station: "Work",
      stationKey: "work",
      marks: {},
      repositories: [],
      pullRequest: null,
    },
    run: { id: "run_1" },
    event: { at: "" },
    causes: [],
  };
}

t.test("a workspace with 10,000 hooks and 1,000 lines reads no more rows an operation than a small one", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-scale-"));
  const store = await openLmdbStore({ folder });
  t.teardown(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  const fixture = new Fixture(store);
  const small = await readReads(fixture, "ws_small", await fixture.fill("ws_small", SMALL));
  const large = await readReads(fixture, "ws_large", await fixture.fill("ws_large", LARGE));
  t.same(large, small);
  for (const [operation, rows] of Object.entries(small)) t.ok(rows > 0 && rows < 60, `${operation} reads ${rows} rows`);
});
