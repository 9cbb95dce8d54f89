import t from "tap";
import { migrations } from "../../../actors/catalogue.js";
import { hookHealth, readHookHealth } from "../../../actors/hooks/hook-health.table.js";
import { hookRetries } from "../../../actors/hooks/hook-occurrence.table.js";
import type { Entry, KeyPart } from "../../../storage/store.js";
import { bringUp, bringUpThroughKills, collectEntries, stepped, storeWith } from "../../support/migrating.js";
import { memoryRows } from "../../support/turn.js";
import { teamId, workspaceId } from "../../support/work.js";

const now = Date.parse("2026-03-02T10:30:00.000Z");
const hoursAgo = (hours: number) => new Date(now - hours * 60 * 60 * 1_000).toISOString();
const row = (table: string, id: readonly KeyPart[], value: object): Entry => ({
  key: [workspaceId, "row", table, ...id],
  value,
});
const hook = (id: string) => row("resource", ["hook", id], { id, kind: "hook" });

/**
 * Returns the rows of a stored firing. The firing's end has a separate row, except if the loop guard stopped the
 * firing.
 */
function firing(id: string, state: string, at: string | null, options: { hookId?: string; looped?: boolean } = {}) {
  const { hookId = "hook_1", looped = false } = options;
  const begun = { hookId, state: "attempting", endedAt: null, retryAt: null };
  const place = [teamId, id];
  if (state === "waiting") return [row("hook-firing", place, { ...begun, state, retryAt: at })];
  if (at === null || looped) return [row("hook-firing", place, { ...begun, state, endedAt: at })];
  return [row("hook-firing", place, begun), row("hook-firing-end", place, { state, endedAt: at })];
}

const many = Array.from({ length: 300 }, (_, n) => firing(`occ_m${n}`, "delivered", hoursAgo(20 - n / 20))).flat();
const stored: readonly Entry[] = [
  hook("hook_1"),
  hook("hook_2"),
  hook("hook_3"),
  ...firing("occ_1", "delivered", hoursAgo(1)),
  ...firing("occ_2", "failed", hoursAgo(2)),
  ...firing("occ_3", "failed", hoursAgo(3), { looped: true }),
  ...firing("occ_4", "refused", hoursAgo(4)),
  ...firing("occ_5", "failed", hoursAgo(30)),
  ...firing("occ_6", "attempting", null),
  ...firing("occ_7", "waiting", hoursAgo(-0.5)),
  ...firing("occ_8", "waiting", hoursAgo(-0.25)),
  ...firing("occ_9", "delivered", hoursAgo(0), { hookId: "hook_2" }),
  ...firing("occ_a", "delivered", hoursAgo(0), { hookId: "hook_gone" }),
];
const step = migrations.find(({ title }) => title === "firings are counted by hook, hour and result");
if (step === undefined) throw new Error("the step is gone");

function rowsOf(entries: readonly Entry[]) {
  const rows = memoryRows();
  for (const { key, value } of entries) rows.put(key, value);
  return rows;
}

t.test("the stored firings of an earlier release count in the health of their hooks", async (t) => {
  const rows = rowsOf(await stepped(step, stored));
  const health = (id: string) => readHookHealth(rows, { workspaceId, id }, now);
  t.same(health("hook_1"), { delivered: 1, refused: 1, failed: 2, waiting: 2, nextRetryAt: hoursAgo(-0.25) });
  t.same(health("hook_2"), { delivered: 1, refused: 0, failed: 0, waiting: 0, nextRetryAt: null });
  t.same(health("hook_3"), { delivered: 0, refused: 0, failed: 0, waiting: 0, nextRetryAt: null });
  t.equal(hookHealth.get(rows, workspaceId, "hook_gone"), undefined);
  t.same(
    hookRetries.entries(rows, workspaceId).map(({ key }) => key.slice(3)),
    [
      ["hook_1", Date.parse(hoursAgo(-0.25)), "occ_8"],
      ["hook_1", Date.parse(hoursAgo(-0.5)), "occ_7"],
    ],
  );
});

t.test("a count over many slices, and over kills between them, counts each firing once", async (t) => {
  const before = Array.from({ length: step.to - 2 }, (_, index) => ({ to: index + 2, title: "", walks: [] }));
  const format = { key: ["~", "meta", "format"], value: step.to - 1 };
  const options = { steps: [...before, step], slice: 7 };
  const [whole, killed] = [
    await storeWith([...stored, ...many, format]),
    await storeWith([...stored, ...many, format]),
  ];
  await bringUp(whole, options);
  t.ok((await bringUpThroughKills(killed, options)) > 10);
  t.same(collectEntries(killed), collectEntries(whole));
  const health = readHookHealth(rowsOf(collectEntries(whole)), { workspaceId, id: "hook_1" }, now);
  t.match(health, { delivered: 301, refused: 1, failed: 2, waiting: 2 });
});
