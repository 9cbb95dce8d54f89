import type { Reading } from "../../storage/store.js";
import type { ReplayCopyRow, ReplayRow } from "../replays/replay.js";
import { replays } from "../replays/replay.table.js";
import { listCopies } from "../replays/replay-copy.table.js";
import { getReplayInput, type ReplayEntry } from "../replays/replay-input.table.js";
import type { ReplayCheckRow } from "./check.js";
import { atOnce, type InSteps } from "./in-steps.js";
import type { CheckSide } from "./verdict.js";

/** A copy of one side, with why it did not succeed. */
export type SideCopy = Pick<
  ReplayCopyRow,
  "replayId" | "place" | "repeat" | "taskId" | "originalRunId" | "state" | "result" | "why" | "check"
>;

/** One side of a check, from its rows. */
export interface ReplaySide extends CheckSide {
  readonly replay: ReplayRow;
  readonly copies: readonly SideCopy[];
}

/** A check's two replays as they are now; null for one that is gone. */
export interface ReplaySides {
  readonly candidate: ReplaySide | null;
  readonly baseline: ReplaySide | null;
  /** The runs that the check replays, in the order of their set; those of the baseline when its replay is gone. */
  readonly entries: readonly ReplayEntry[];
  readonly runs: readonly string[];
}

/**
 * Reads both replays. Of the baseline, which may be one of more runs, those count that the check replays. Copies whose
 * rows are not made yet are there, and have not settled.
 */
export function readSides(reading: Reading, workspaceId: string, check: Sides): ReplaySides {
  return atOnce(readSidesInSteps(reading, workspaceId, check));
}

type Sides = Pick<ReplayCheckRow, "replayId" | "baselineReplayId">;

/** As {@link readSides}. */
export function* readSidesInSteps(
  reading: Reading,
  workspaceId: string,
  { replayId, baselineReplayId }: Sides,
): InSteps<ReplaySides> {
  const [own, other] = [replayId, baselineReplayId].map((id) => replays.get(reading, workspaceId, id));
  const shown = own ?? other;
  const entries = shown === undefined ? [] : getReplayInput(reading, workspaceId, shown.id).entries;
  const sideOf = (replay: ReplayRow | undefined) =>
    replay === undefined ? null : readSide(reading, workspaceId, replay, entries);
  const candidate = sideOf(own);
  yield;
  return { candidate, baseline: sideOf(other), entries, runs: entries.map(({ runId }) => runId) };
}

function readSide(
  reading: Reading,
  workspaceId: string,
  replay: ReplayRow,
  entries: readonly ReplayEntry[],
): ReplaySide {
  const rows = new Map(listCopies(reading, workspaceId, replay.id).map((copy) => [nameOf(copy), copy]));
  const repeats = Array.from({ length: replay.repeats }, (_, index) => index + 1);
  const copies = entries.flatMap((entry) =>
    repeats.map(
      (repeat) => rows.get(nameOf({ originalRunId: entry.runId, repeat })) ?? unmade(replay.id, entry, repeat),
    ),
  );
  return { replay, state: replay.state, copies };
}

/** A set holds a run once. */
function nameOf({ originalRunId, repeat }: Pick<SideCopy, "originalRunId" | "repeat">): string {
  return `${originalRunId} ${repeat}`;
}

function unmade(replayId: string, { place, runId: originalRunId, taskId }: ReplayEntry, repeat: number): SideCopy {
  return { replayId, place, repeat, taskId, originalRunId, state: "waiting", result: null, why: null, check: null };
}
