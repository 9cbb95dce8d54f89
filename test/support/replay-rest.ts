import { compare } from "../../actors/fraction.js";
import { countSpent } from "../../actors/replays/budget/replay-ceiling.js";
import type { ReplayRow } from "../../actors/replays/replay/replay.js";
import { isUnderWay } from "../../actors/replays/replay/replay.table.js";
import { countChanges } from "../../actors/replays/replay/replay-step.js";
import { countedSpend } from "../../actors/statistics/spending.js";
import { replayRow } from "./replay-rows.js";
import type { ReplayWorld } from "./replay-world.js";
import { workspaceId } from "./work.js";

/** Tables that are empty when nothing runs. */
const ofRunning = ["claim", "queued-run", "queued-needs", "run-lane"];

/** Returns the violated invariants of the stored rows. Call it only once all replays have ended and nothing runs. */
export function complaintsAtRest(world: ReplayWorld): readonly string[] {
  const rows = world.harness.durable;
  const running = world.runStates().filter((state) => ["queued", "claimed", "running"].includes(state));
  const filled = ofRunning.filter((table) => rows.range({ prefix: [workspaceId, "row", table] }).length > 0);
  const pins = rows.range({ prefix: [workspaceId, "row", "pin"] });
  const pinned = pins.filter(({ key }) => String(key.at(-1)).startsWith("rep_"));
  return [
    ...world.allReplays().flatMap((row) => complaintsAbout(world, row)),
    ...running.map((state) => `a run is ${state}`),
    ...filled.map((table) => `${table} is not empty`),
    ...pinned.map(({ key }) => `${key.join(" ")} is pinned`),
    ...world.complaints().map((each) => JSON.stringify(each)),
  ];
}

function complaintsAbout(world: ReplayWorld, row: ReplayRow): readonly string[] {
  const copies = world.copies(row.id);
  const unmade = { state: "waiting", result: null, spent: null, priced: true } as const;
  const changes = copies.map((after) => ({ before: { ...after, ...unmade }, after }));
  const { counts } = countChanges({ ...replayRow(), ceiling: row.ceiling }, changes);
  return [
    ...(isUnderWay(row) ? [`it is ${row.state}`] : []),
    ...(copies.length === row.runs * row.repeats ? [] : [`it has ${copies.length} copies`]),
    ...(JSON.stringify(counts) === JSON.stringify(row.counts) ? [] : ["its counts are not those of its copies"]),
    ...(compare(countSpent(row), countedSpend(copies, row)) === 0 ? [] : ["its sums are not those of its copies"]),
  ].map((complaint) => `${row.id}: ${complaint}`);
}
