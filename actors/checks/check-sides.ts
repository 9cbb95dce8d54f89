import type { Reading } from "../../storage/store.js";
import { atOnce, type InSteps } from "../in-steps.js";
import { listCopies } from "../replays/copies/replay-copy.table.js";
import type { ReplayCopyRow, ReplayRow } from "../replays/replay/replay.js";
import { replays } from "../replays/replay/replay.table.js";
import { getReplayInput, type ReplayEntry } from "../replays/replay/replay-input.table.js";
import type { ReplayCheckRow } from "./check.js";
import type { CheckSide } from "./verdict.js";

/**
 * A copy of a run on one side of a check. `why` says why the copy failed or is unscored, and is null for other copies.
 */
export type SideCopy = Pick<
  ReplayCopyRow,
  "replayId" | "place" | "repeat" | "taskId" | "originalRunId" | "state" | "result" | "why" | "check"
>;

/** One side of a check: the replay, and its copies of the runs that the check replays. */
export interface ReplaySide extends CheckSide {
  readonly replay: ReplayRow;
  readonly copies: readonly SideCopy[];
}

/** The current state of a check's two replays; null for a replay that is gone. */
export interface ReplaySides {
  readonly candidate: ReplaySide | null;
  readonly baseline: ReplaySide | null;
  /**
   * The runs that the check replays, in the order of their set. If the check's own replay is gone, the list has the
   * baseline's runs. If both replays are gone, the list is empty.
   */
  readonly entries: readonly ReplayEntry[];
  readonly runs: readonly string[];
}

/**
 * Reads both replays. The baseline may cover more runs; only its copies of the runs that the check replays are
 * included. A copy without a row has the state `waiting`.
 */
export function readSides(reading: Reading, workspaceId: string, check: Sides): ReplaySides {
  return atOnce(readSidesInSteps(reading, workspaceId, check));
}

type Sides = Pick<ReplayCheckRow, "replayId" | "baselineReplayId">;

/** Like {@link readSides}, but yields between the two replays so that other work can run. */
export function* readSidesInSteps(
  reading: Reading,
  workspaceId: string,
  { replayId, baselineReplayId }: Sides,
): InSteps<ReplaySides> {
  const [own, other] = [replayId, baselineReplayId].map((id) => replays.get(reading, workspaceId, id));
  const shown = own ?? other;
  const entries = shown === undefined ? [] : getReplayInput(reading, workspaceId, shown.id).entries;
  const findSide = (replay: ReplayRow | undefined) =>
    replay === undefined ? null : readSide(reading, workspaceId, replay, entries);
  const candidate = findSide(own);
  yield;
  return { candidate, baseline: findSide(other), entries, runs: entries.map(({ runId }) => runId) };
}

function readSide(
  reading: Reading,
  workspaceId: string,
  replay: ReplayRow,
  entries: readonly ReplayEntry[],
): ReplaySide {
  const rows = new Map(listCopies(reading, workspaceId, replay.id).map((copy) => [toName(copy), copy]));
  const repeats = Array.from({ length: replay.repeats }, (_, index) => index + 1);
  const copies = entries.flatMap((entry) =>
    repeats.map(
      (repeat) => rows.get(toName({ originalRunId: entry.runId, repeat })) ?? unmade(replay.id, entry, repeat),
    ),
  );
  return { replay, state: replay.state, copies };
}

/** Returns a key that is unique within a replay, because a set contains a run at most once. */
function toName({ originalRunId, repeat }: Pick<SideCopy, "originalRunId" | "repeat">): string {
  return `${originalRunId} ${repeat}`;
}

function unmade(replayId: string, { place, runId: originalRunId, taskId }: ReplayEntry, repeat: number): SideCopy {
  return { replayId, place, repeat, taskId, originalRunId, state: "waiting", result: null, why: null, check: null };
}
