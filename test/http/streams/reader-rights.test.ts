import t from "tap";
import { findTokenCaller } from "../../../actors/access/tokens/workspace-token.queries.js";
import { type ResourceRow, resources } from "../../../actors/resources/resource.table.js";
import { hashEntry } from "../../../actors/resources/resource-hash.table.js";
import {
  isStillAdmitted,
  RightsNow,
  type RightsOptions,
  type StreamReader,
} from "../../../http/streams/reader-rights.js";
import type { CoveringReading } from "../../../runtime/rows/covered-reading.js";
import { countingReading } from "../../support/counting-rows.js";
import { ManualClock } from "../../support/manual-clock.js";
import { memoryRows } from "../../support/turn.js";

const hash = "a".repeat(64);

/**
 * Opens a reading that returns new row objects for each read, as if a cache had evicted the rows. The test sets the
 * versions of the tables.
 */
function open() {
  const rows = memoryRows();
  const clock = new ManualClock();
  const expiresAt = new Date(clock.now() + 60_000).toISOString();
  const put = (workspaceId: string, kind: string, id: string, of: object) =>
    resources.put(rows, workspaceId, [kind, id], { id, kind, workspaceId, ...of } as ResourceRow);
  for (const workspaceId of ["ws_1", "ws_2"]) put(workspaceId, "workspace", workspaceId, { fields: {} });
  const putToken = (scopes: readonly string[]) =>
    put("ws_1", "workspace-token", "tok_1", { fields: { scopes, expiresAt }, added: {}, hidden: { token: hash } });
  putToken(["read"]);
  rows.direct(hashEntry("workspace-token", hash, { workspaceId: "ws_1", id: "tok_1" }));
  const counted = countingReading(rows);
  const versions = new Map<unknown, number | null>([
    ["workspace", 1],
    ["workspace-token", 1],
  ]);
  const reading: CoveringReading = {
    get: <Value>(key: Parameters<CoveringReading["get"]>[0]) => structuredClone(counted.get<Value>(key)),
    range: (range) => counted.range(range),
    covers: () => true,
    coveredVersion: (_partition, group) => versions.get(group) ?? null,
  };
  const expired = new Set<string>();
  const options: RightsOptions = {
    runtime: { reading, clock },
    expired,
    findCaller: ({ hash }) =>
      findTokenCaller(reading, hash ?? "", clock.now()) ?? { refused: "unauthenticated", detail: "" },
  };
  const reader: StreamReader = { credential: { kind: "token", hash }, held: null };
  return {
    rows,
    clock,
    versions,
    expired,
    putToken,
    rightsIn: (workspaceId: string) => new RightsNow(options, workspaceId).find(reader),
    isStillAdmitted: () => isStillAdmitted(options, reader),
    reads: (work: () => void) => {
      counted.reset();
      work();
      return counted.read;
    },
  };
}

t.test("rights of a token are held, and nothing is read, until the workspace or its tokens change", async (t) => {
  const { rightsIn, reads, isStillAdmitted, versions } = open();
  const rights = rightsIn("ws_1");
  t.match(rights, { reads: true, administers: false });
  t.equal(
    reads(() => {
      t.equal(rightsIn("ws_1"), rights);
      t.ok(isStillAdmitted());
    }),
    0,
  );
  for (const changed of ["workspace", "workspace-token"]) {
    versions.set(changed, 2);
    t.notOk(isStillAdmitted(), "rows that are others than before may say something else");
    t.ok(reads(() => t.same(rightsIn("ws_1"), rights)) > 0);
    versions.set(changed, null);
    t.notOk(isStillAdmitted());
    versions.set(changed, 3);
    rightsIn("ws_1");
    t.ok(isStillAdmitted());
  }
});

t.test("a change of the token or the workspace counts at once", async (t) => {
  const { rightsIn, isStillAdmitted, putToken, versions, rows } = open();
  rightsIn("ws_1");
  putToken([]);
  versions.set("workspace-token", 2);
  t.match(rightsIn("ws_1"), { reads: false });
  resources.remove(rows, "ws_1", "workspace", "ws_1");
  versions.set("workspace", 2);
  t.equal(rightsIn("ws_1"), null);
  t.notOk(isStillAdmitted());
});

t.test("what is held of a token ends with its time, and when it was found expired", async (t) => {
  const { rightsIn, isStillAdmitted, expired, clock } = open();
  rightsIn("ws_1");
  expired.add(hash);
  t.notOk(isStillAdmitted());
  expired.clear();
  t.ok(isStillAdmitted());
  clock.advance(60_000);
  t.notOk(isStillAdmitted());
  t.equal(rightsIn("ws_1"), null);
});

t.test("what is held in one workspace says nothing of another, whose versions may be the same", async (t) => {
  const { rightsIn } = open();
  t.match(rightsIn("ws_1"), { reads: true });
  t.match(rightsIn("ws_2"), { reads: false });
});
