import type { Turn } from "../../../runtime/turns/turn.js";
import { repeatTools } from "../../runs/frozen-tools.js";
import { toReplayTerms } from "../../runs/replay-terms.js";
import { runRef, type StartRun } from "../../runs/run.messages.js";
import { getRunInput, type InputCheckout, type RunBeginning, type RunInputRow } from "../../runs/run-input.table.js";
import { toRunNeeds } from "../../tasks/next-run.js";
import { isAtCeiling, mayStart } from "../budget/replay-ceiling.js";
import { findBudgetLeft } from "../budget/search-budget.js";
import type { CopyName, ReplayContext, ReplayCopyRow, ReplayRow } from "../replay/replay.js";
import { laneOfReplay, replayRef } from "../replay/replay.messages.js";
import type { ReplayInputRow } from "../replay/replay-input.table.js";
import type { CopyChange } from "../replay/replay-step.js";
import { replayCopies } from "./replay-copy.table.js";

/**
 * Maximum number of a replay's copies that wait for a runner. It is high enough that a free runner finds a queued copy
 * at once.
 */
const MAX_QUEUED = 20;

/** The data for queuing copies. */
interface Queuing {
  readonly row: ReplayRow;
  readonly input: ReplayInputRow;
  readonly context: ReplayContext;
  /** Returns the name of the copy with this index, from 0. */
  toName(index: number): CopyName;
}

interface Queued extends Pick<ReplayContext, "next" | "back"> {
  readonly changes: readonly CopyChange[];
}

/**
 * Queues the next copies, until {@link MAX_QUEUED} copies of the replay are queued. Copies that never ran come first.
 * At the ceiling, the function queues only lost copies that may start again. Returns the changed copies, which the
 * caller must write, and the new values for the replay's context.
 */
export function queueCopies(turn: Turn, { row, input, context, toName }: Queuing): Queued {
  const changes: CopyChange[] = [];
  const hasPlace = () => row.counts.queued + changes.length < MAX_QUEUED;
  const find = ({ place, repeat }: CopyName) => replayCopies.get(turn, turn.self.partition, row.id, place, repeat);
  const queue = (before: ReplayCopyRow) => {
    changes.push({ before, after: { ...before, state: "queued", runId: queueCopy(turn, row, input, before) } });
  };
  let { next } = context;
  const budget = findBudgetLeft(turn, row);
  for (; next < context.made && hasPlace() && !isAtCeiling(row, budget); next++) {
    const copy = find(toName(next));
    if (copy?.state === "waiting") queue(copy);
  }
  if (context.made < row.runs * row.repeats) return { next, back: context.back, changes };
  const back = context.back.filter((name) => {
    const copy = hasPlace() ? find(name) : undefined;
    if (!hasPlace() || (copy?.state === "waiting" && !mayStart(row, copy, budget))) return true;
    if (copy?.state === "waiting") queue(copy);
    return false;
  });
  return { next, back, changes };
}

/** Queues the run of a copy: the input of the original run, under the replay's config. Returns the run's id. */
function queueCopy(turn: Turn, row: ReplayRow, input: ReplayInputRow, copy: ReplayCopyRow): string {
  const { partition } = turn.self;
  const { id, teamId, lineId, stationId, stationKey, fingerprint } = row;
  const runId = turn.newId("run");
  const { config, block } = input;
  const start: StartRun = {
    type: "run.start",
    owner: { kind: "replay", id },
    ownerAddress: replayRef(partition, id),
    lane: laneOfReplay(row),
    teamId,
    lineId,
    stationId,
    stationKey,
    config,
    fingerprint,
    beginning: toBeginning(turn, getRunInput(turn, partition, copy.originalRunId), input, copy),
    needs: toRunNeeds(turn, { runners: block.runners, harness: config.station.harness }),
  };
  turn.send(runRef(partition, runId), start);
  return runId;
}

/**
 * Builds the `RunBeginning` of a copy's run from the original run's `RunBeginning`, for the repositories of the
 * replay's config. A repository that the original run did not have starts from the head of its default branch.
 */
function toBeginning(
  turn: Turn,
  { runId: repeats, beginning: original }: RunInputRow,
  input: ReplayInputRow,
  { place }: CopyName,
): RunBeginning {
  if (original === null) throw new Error("a copy of a run whose beginning is not stored");
  const { config, live, block, next, entries } = input;
  const { tools: names } = config.station;
  const tools = repeatTools(turn, turn.self.partition, { tools: names, repeated: original, now: input });
  const answer = entries.find((entry) => entry.place === place)?.answer;
  return {
    repeats,
    line: original.line,
    station: { name: block.name, passesTo: block.passesTo, next },
    ...(tools && { tools }),
    replay: { ...toReplayTerms("repeat", config, live), ...(answer && { answer }) },
    checkouts: config.repositories.map(({ name: repository }) => {
      const known = original.checkouts.find((checkout) => checkout.repository === repository);
      return known === undefined ? { repository, base: null, diff: null } : toStartingPoint(known);
    }),
  };
}

/** Returns a checkout's starting point by commit only: the branches may have moved since. */
function toStartingPoint({ repository, base, diff, merges }: InputCheckout): InputCheckout {
  return { repository, base, diff, ...(merges !== undefined && merges.commit !== null && { merges }) };
}
