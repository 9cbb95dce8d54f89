import type { Turn } from "../../runtime/turns/turn.js";
import { IDEMPOTENCY_WINDOW_MS } from "../resources/idempotency.table.js";
import { runOutcomes } from "../run-facts/run-outcome.table.js";
import { indexedOwnedBy, type OwnedRows, ownedBy, releaseRows } from "../tables/owned-rows.js";
import { isPinned, pin, removePins } from "../tables/pins.js";
import { retain } from "../tables/retention.js";
import { approvals } from "./approval.table.js";
import { openCalls } from "./open-call.table.js";
import { runRef } from "./run.messages.js";
import { runCheckouts, runEntry, runMessageKeys, runMessages, runSteps, runs } from "./run.table.js";
import { runInputs } from "./run-input.table.js";

/**
 * Retention of runs whose owner is not a task, a replay or a search. Tasks, replays and searches remove their own runs.
 */
export const runRetention = retain(runs, {
  period: "work",
  after: ["task"],
  cost: 6,
  startedAtMs: ({ queuedAtMs }) => queuedAtMs,
  endedAtMs: ({ taskId, owner, endedAt }) =>
    taskId !== null || owner.kind === "replay" || owner.kind === "search" || endedAt === null
      ? null
      : Date.parse(endedAt),
  isRetained: (turn, { id }) => isPinned(turn, { of: runs.name, id }),
  remove: (turn, { id }) => {
    turn.send(runRef(turn.self.partition, id), { type: "run.forget" });
    return true;
  },
});

/** The rows that belong to a run and are removed with it. */
export const runOwned: readonly OwnedRows[] = [
  indexedOwnedBy(runs.name, runSteps),
  ownedBy(runs.name, runMessages),
  ownedBy(runs.name, runMessageKeys),
  indexedOwnedBy(runs.name, runCheckouts),
  indexedOwnedBy(runs.name, runInputs),
  indexedOwnedBy(runs.name, approvals),
  ownedBy(runs.name, openCalls),
  ownedBy(runs.name, runOutcomes),
];

/** Retains a run while a request about the run may be repeated. The default is the run of this turn. */
export function retainForRequests(turn: Turn, runId = turn.self.id): void {
  const of = { of: runs.name, id: runId, by: "requests" };
  pin(turn, turn.self.partition, { ...of, untilMs: turn.now + IDEMPOTENCY_WINDOW_MS });
}

/** Removes the run of this turn. */
export function forgetRun(turn: Turn): void {
  const { partition, id } = turn.self;
  const run = runs.get(turn, partition, id);
  if (run !== undefined) {
    runs.remove(turn, partition, run);
    turn.undirect(runEntry(partition, id));
    releaseRows(turn, runs.name, id);
    removePins(turn, { of: runs.name, id });
  }
  turn.stop();
}
