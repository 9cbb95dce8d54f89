import t from "tap";
import { migrations } from "../../../actors/catalogue.js";
import {
  findAttempt,
  hasAttempts,
  IDEMPOTENCY_WINDOW_MS,
  recordAttempt,
  SWEEP_EVERY_MS,
  sweepAttempts,
} from "../../../actors/resources/idempotency.table.js";
import { workspaceRef } from "../../../actors/workspaces/workspace.messages.js";
import type { Entry } from "../../../storage/store.js";
import { stepped } from "../../support/migrating.js";
import { memoryRows, withTurn } from "../../support/turn.js";

const workspaceId = "ws_1";
const nowMs = Date.parse("2026-02-01T00:00:00.000Z");
const attempt = (key: string) => ({ scope: "usr_1 secret ", key, digest: "d" });

function recorded(count: number, prefix: string, atMs: number, rows = memoryRows()) {
  withTurn(
    workspaceRef(workspaceId),
    (turn) => {
      for (let n = 0; n < count; n++) recordAttempt(turn, workspaceId, attempt(`${prefix}${n}`), `sec_${n}`);
    },
    { rows, now: atMs },
  );
  return rows;
}

/** Sweeps until the sweep is complete; returns the delay after each slice. */
function swept(rows: ReturnType<typeof memoryRows>, now: number): number[] {
  const waits: number[] = [];
  const slice = () =>
    withTurn(workspaceRef(workspaceId), (turn) => void waits.push(sweepAttempts(turn, workspaceId) - now), {
      rows,
      now,
    });
  do slice();
  while (waits.at(-1) === 0);
  return waits;
}

t.test("a sweep removes what is older than a day, wherever it stands, and nothing else", async (t) => {
  const rows = recorded(600, "old-", nowMs - IDEMPOTENCY_WINDOW_MS);
  recorded(600, "new-", nowMs - IDEMPOTENCY_WINDOW_MS + 1, rows);
  t.same(swept(rows, nowMs), [0, 0, 0, 0, SWEEP_EVERY_MS], "in slices, one after the other");
  const left = rows.range({ prefix: [workspaceId] });
  t.same([left.length, left.every(({ key }) => String(key.at(-1)).startsWith("new-"))], [600, true]);
  t.match(findAttempt(rows, workspaceId, attempt("new-599"), nowMs), { resourceId: "sec_599" });
  swept(rows, nowMs + IDEMPOTENCY_WINDOW_MS);
  t.same([rows.range({ prefix: [] }), hasAttempts(rows, workspaceId)], [[], false], "nor a place of the sweep");
});

t.test("what came while the clock was ahead stays until its day is over", async (t) => {
  const rows = recorded(1, "ahead-", nowMs + 2 * IDEMPOTENCY_WINDOW_MS);
  swept(rows, nowMs);
  t.match(findAttempt(rows, workspaceId, attempt("ahead-0"), nowMs), { resourceId: "sec_0" });
});

t.test("an attempt of an earlier release is known, and its age is not listed any more", async (t) => {
  const step = migrations.find(({ title }) => title.startsWith("repeated requests"));
  if (step === undefined) throw new Error("there is no such step");
  const { scope, key, digest } = attempt("k");
  const row: Entry = {
    key: [workspaceId, "row", "idempotency", scope, key],
    value: { digest, resourceId: "sec_1", workspaceId, atMs: nowMs },
  };
  const global: Entry = { ...row, key: ["~", "row", "idempotency", scope, key] };
  const ages = [workspaceId, "~"].map(
    (of): Entry => ({ key: [of, "row", "idempotency-age", nowMs, scope, key], value: true }),
  );
  t.same(await stepped(step, [row, global, ...ages]), [row, global]);
  const rows = memoryRows();
  rows.put(row.key, row.value);
  t.match(findAttempt(rows, workspaceId, attempt("k"), nowMs), { resourceId: "sec_1" });
});
