import t from "tap";
import { createActorTypes, createKinds } from "../../../actors/catalogue.js";
import { parseAllowList } from "../../../actors/outbound/http/allow-list.js";
import { isRefusal, type Refusal } from "../../../actors/refusal.js";
import type { WriteResult } from "../../../actors/resources/resource.messages.js";
import { type ResourceRow, resources } from "../../../actors/resources/resource.table.js";
import { openWorkspace } from "../../../actors/workspaces/open-workspace.js";
import { findWorkspaceBySlug } from "../../../actors/workspaces/slug-claims.machine.js";
import { workspaceRef } from "../../../actors/workspaces/workspace.messages.js";
import { GLOBAL_PARTITION, rowSpace } from "../../../storage/keys.js";
import { Harness, settled } from "../../support/harness.js";

const kinds = createKinds({ allowList: parseAllowList(""), signsTokens: false });
const catalogue = { actors: createActorTypes(kinds) };
const FIVE_MINUTES_MS = 5 * 60_000;

type Outcome = WriteResult | Refusal;

async function started(): Promise<Harness> {
  const harness = new Harness({ catalogue });
  await harness.start();
  return harness;
}

/** Opens a workspace with this slug under this key. */
function open({ runtime }: Harness, key: string, slug = "acme"): Promise<Outcome> {
  return openWorkspace(runtime, {
    kind: "workspace",
    client: null,
    teamId: null,
    hidden: {},
    fields: { slug, name: "Acme" },
    caller: { kind: "person", userId: "usr_1", email: "ada@example.com", sessionId: "ses_1" },
    idempotency: { scope: "usr_1 workspace ", key, digest: slug },
  });
}

/** Returns the answer. Throws if the request failed, or if there is no answer within two seconds of simulated time. */
async function outcome(harness: Harness, asked: Promise<Outcome>): Promise<Outcome> {
  const answer = settled(asked);
  await harness.advance(2_000);
  const found = await Promise.race([answer, Promise.resolve({ error: new Error("there is no answer") })]);
  if ("error" in found) throw found.error;
  return found.value as Outcome;
}

const toId = (made: Outcome) => (isRefusal(made) ? made.refused : made.resource.id);

/** Returns all workspaces with a slug. */
function listWorkspaces({ durable }: Harness, slug = "acme"): ResourceRow[] {
  const partitions = new Set(durable.range({ prefix: [] }).map(({ key }) => String(key[0])));
  return [...partitions].flatMap((id) =>
    resources.list(durable, id, ["workspace"]).filter(({ address }) => address === slug),
  );
}

/** Returns the violated invariants of the claim on a slug. Call it only when no request or message is in progress. */
function complaints(harness: Harness): string[] {
  const [row] = harness.durable.range<object>({ prefix: [GLOBAL_PARTITION, rowSpace, "workspace-slug"] });
  const found = listWorkspaces(harness).map(({ id }) => id);
  const claimant = findWorkspaceBySlug(harness.durable, "acme");
  return [
    ...(found.length > 1 ? [`${found.join()} have one slug`] : []),
    ...(claimant === found[0] ? [] : [`the slug is ${claimant}'s, the workspace ${found[0]}`]),
    ...(row !== undefined && "pending" in row.value ? ["the claim is pending still"] : []),
    ...harness.logged.map(({ message }) => message),
  ];
}

t.test("a workspace is opened under its slug, and a repeat returns it", async (t) => {
  const harness = await started();
  const made = await outcome(harness, open(harness, "k"));
  t.match(made, { replayed: false, resource: { address: "acme", version: 1 } });
  t.match(await outcome(harness, open(harness, "k")), { replayed: true, resource: { id: toId(made) } });
  t.equal(toId(await outcome(harness, open(harness, "other"))), "already-exists");
  await harness.advance(FIVE_MINUTES_MS);
  t.same(complaints(harness), []);
});

/**
 * When the first and the second process are killed. The first process is killed while it handles the first requests,
 * the second process while it finishes their work.
 */
interface Kills {
  /** The commit at which each process is killed, counted from its start. */
  readonly commits: readonly [number, number];
  readonly when: "before" | "after";
  /** How long the service is down each time, in milliseconds. */
  readonly downMs: number;
  /** Whether the clients repeat their requests in the second process, under the same keys. */
  readonly comesBack: boolean;
}

/**
 * Kills two processes and starts a third. Returns the service in the third process, and whether both kills happened.
 */
async function afterKills({ commits, when, downMs, comesBack }: Kills) {
  // One turn per batch, so that the messages of a turn are undelivered if the next turn is killed.
  const harness = new Harness({ catalogue, limits: { turnsPerBatch: 1 } });
  // With this many partitions, a start finds due wake-ups before undelivered messages.
  const others = Array.from({ length: 300 }, (_, n) => ({
    op: "put" as const,
    key: [`other_${n}`, rowSpace],
    value: n,
  }));
  const filled = harness.disk.open().commit(others);
  await harness.advance();
  await filled;
  for (const [life, commit] of commits.entries()) {
    harness.killAt = { commit: harness.batches.length + commit, when };
    await harness.start();
    if (life === 0 || comesBack) void settled(open(harness, "k"));
    await harness.advance(life === 0 ? 2_000 : FIVE_MINUTES_MS);
    if (life === 0 && harness.batches.length < commit) return { harness, isKilled: false };
    harness.crash();
    await harness.advance(downMs);
  }
  harness.killAt = null;
  await harness.start();
  return { harness, isKilled: true };
}

t.test(
  "after a kill between any two steps, a repeat returns its workspace; without a repeat the slug becomes free",
  async (t) => {
    const fates = { opened: 0, lapsed: 0, repeated: 0 };
    const ways = [true, false].flatMap((comesBack) =>
      (["before", "after"] as const).flatMap((when) =>
        [0, FIVE_MINUTES_MS].map((downMs) => ({ comesBack, when, downMs })),
      ),
    );
    for (const way of ways) {
      for (let first = 1, goesOn = true; goesOn; first++) {
        for (let second = 1; second <= 6 && goesOn; second++) {
          const kills: Kills = { ...way, commits: [first, second] };
          const { harness, isKilled } = await afterKills(kills);
          goesOn = isKilled;
          if (!isKilled) continue;
          if (way.comesBack) t.notOk(isRefusal(await outcome(harness, open(harness, "k"))), JSON.stringify(kills));
          await harness.advance(FIVE_MINUTES_MS);
          t.same(complaints(harness), [], JSON.stringify(kills));
          const wasOpened = listWorkspaces(harness).length === 1;
          fates[way.comesBack ? "repeated" : wasOpened ? "opened" : "lapsed"] += 1;
          const theirs = await outcome(harness, open(harness, "theirs"));
          t.equal(toId(theirs) === "already-exists", wasOpened, JSON.stringify(kills));
          await harness.advance(FIVE_MINUTES_MS);
          t.same(complaints(harness), [], JSON.stringify(kills));
        }
      }
    }
    for (const [fate, times] of Object.entries(fates)) t.ok(times >= 6, `${fate}: ${times} times`);
  },
);

t.test("killed between any two steps while two people want a slug, exactly one gets it", async (t) => {
  const won = { ours: 0, theirs: 0 };
  for (const when of ["before", "after"] as const) {
    for (const downMs of [0, FIVE_MINUTES_MS]) {
      for (let first = 1, goesOn = true; goesOn; first++) {
        for (let second = 1; second <= 6 && goesOn; second++) {
          const harness = new Harness({ catalogue, limits: { turnsPerBatch: 1 } });
          const at = `killed ${when} commits ${first} and ${second}, down for ${downMs} ms`;
          for (const [life, commit] of [first, second].entries()) {
            harness.killAt = { commit: harness.batches.length + commit, when };
            await harness.start();
            // The two clients send their requests in another order in each process.
            for (const key of life === 0 ? ["ours", "theirs"] : ["theirs", "ours"]) void settled(open(harness, key));
            await harness.advance(2_000);
            if (life === 0) goesOn = harness.batches.length >= commit;
            harness.crash();
            await harness.advance(downMs);
          }
          if (!goesOn) break;
          harness.killAt = null;
          await harness.start();
          await harness.advance(FIVE_MINUTES_MS);
          t.same(complaints(harness), [], at);
          const asked = [open(harness, "ours"), open(harness, "theirs")];
          await harness.advance(2_000);
          const [ours, theirs] = await Promise.all(asked);
          const isOurs = ours !== undefined && !isRefusal(ours);
          t.equal(isOurs, theirs !== undefined && isRefusal(theirs), at);
          won[isOurs ? "ours" : "theirs"] += 1;
          await harness.advance(FIVE_MINUTES_MS);
          t.same(complaints(harness), [], at);
        }
      }
    }
  }
  for (const [who, times] of Object.entries(won)) t.ok(times > 0, `${who}: ${times} times`);
});

t.test("of two workspaces that claim one slug at once, a thousand times, exactly one gets it", async (t) => {
  const harness = await started();
  for (let round = 0; round < 10; round++) {
    const pairs = Array.from({ length: 100 }, (_, n) => {
      const slug = `slug-${round}-${n}`;
      return { slug, both: Promise.all([open(harness, `${slug} a`, slug), open(harness, `${slug} b`, slug)]) };
    });
    await harness.advance(5_000);
    for (const { slug, both } of pairs) {
      const outcomes = await both;
      const refused = outcomes.filter(isRefusal);
      const [won] = outcomes.flatMap((made) => (isRefusal(made) ? [] : [made.resource.id]));
      const ofSlug = findWorkspaceBySlug(harness.durable, slug);
      const isRight = refused.length === 1 && refused[0]?.refused === "already-exists" && ofSlug === won;
      if (!isRight) t.fail(`${slug}: ${outcomes.map(toId).join()}`);
    }
  }
  const workspaces = harness.durable.range({ prefix: [GLOBAL_PARTITION, rowSpace, "workspace-slug"] }).length;
  t.equal(workspaces, 1_000);
  t.same(harness.logged, []);
});

t.test("a repeat while the first request is in progress returns the same workspace", async (t) => {
  const harness = await started();
  const both = Promise.all([open(harness, "k"), open(harness, "k")]);
  await harness.advance(2_000);
  const [first, second] = await both;
  t.equal(toId(first), toId(second));
  t.same([first, second].map((made) => !isRefusal(made) && made.replayed).sort(), [false, true]);
});

t.test("the slug of a closed workspace stays taken, and a repeat of its request is refused", async (t) => {
  const harness = await started();
  const made = await outcome(harness, open(harness, "k"));
  const id = toId(made);
  const closed = settled(
    harness.runtime.ask(workspaceRef(id), {
      type: "resource.delete",
      kind: "workspace",
      client: null,
      id,
      version: 1,
      caller: { kind: "person", userId: "usr_1", email: "ada@example.com", sessionId: "ses_1" },
    }),
  );
  await harness.advance();
  t.match(await closed, { value: { resource: { id } } });
  await harness.advance(FIVE_MINUTES_MS);
  t.equal(toId(await outcome(harness, open(harness, "other"))), "already-exists");
  t.match(await outcome(harness, open(harness, "k")), { refused: "conflict", detail: /has been deleted/ });
});

t.test("a workspace whose turn is after the end of its claim is not opened, and claims again", async (t) => {
  const harness = await started();
  const late = settled(
    harness.runtime.ask(workspaceRef("ws_late"), {
      type: "workspace.open",
      kind: "workspace",
      client: null,
      teamId: null,
      hidden: {},
      fields: { slug: "acme", name: "Acme" },
      idempotency: { scope: "s", key: "k", digest: "d" },
      caller: { kind: "person", userId: "usr_1", email: "ada@example.com", sessionId: "ses_1" },
      openBeforeMs: harness.world.nowMs,
    }),
  );
  await harness.advance();
  t.same(await late, { value: { isTooLate: true } });
  t.same(listWorkspaces(harness), []);
  t.equal(harness.runtime.stats().cells, 0, "nothing is left of it");
});
