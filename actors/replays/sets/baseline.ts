import type { Reading } from "../../../storage/store.js";
import type { Fingerprints } from "../candidates/station-config.js";
import type { ReplayRow } from "../replay/replay.js";
import { replays } from "../replay/replay.table.js";
import { replayInputs } from "../replay/replay-input.table.js";
import type { ReplaySetRow } from "./replay-set.js";
import { replayEntries } from "./replay-set.table.js";

/**
 * Minimum number of runs for a live replay to check its set: fewer runs do not show the set's noise (see "Limits" in
 * the replays document).
 */
const CHECKED_FROM = 5;
/** Minimum number of copies of each run in a replay that checks its set. */
const CHECKING_REPEATS = 3;

/** The requirements that a baseline must meet. */
interface Wanted {
  /** The fingerprints of the current live config. */
  readonly live: Pick<Fingerprints, "runningFingerprint" | "scoringFingerprint">;
  /** Minimum number of copies of each run; 1 by default. */
  readonly repeats?: number;
}

/**
 * Finds the baseline of a set: the newest replay of the current live config that is queued, running or finished. The
 * baseline must repeat all of the set's runs, at least as often as required. Returns undefined if there is no such
 * replay.
 */
export function findBaseline(
  reading: Reading,
  workspaceId: string,
  set: ReplaySetRow,
  { live, repeats = 1 }: Wanted,
): ReplayRow | undefined {
  const fits = (replay: ReplayRow) => replay.repeats >= repeats && coversSet(reading, workspaceId, replay, set);
  return findLive(reading, workspaceId, set, { live, fits });
}

/** Returns how often a new baseline repeats each run, and whether it checks the set. */
export function planBaseline(
  reading: Reading,
  workspaceId: string,
  set: ReplaySetRow,
  { live, repeats, runs }: Required<Wanted> & { readonly runs: number },
): Pick<ReplayRow, "probe" | "repeats"> {
  const fits = (replay: ReplayRow) => replay.probe && coversSet(reading, workspaceId, replay, set);
  const isChecked = () => findLive(reading, workspaceId, set, { live, fits }) !== undefined;
  if (runs < CHECKED_FROM || isChecked()) return { probe: false, repeats };
  return { probe: true, repeats: Math.max(repeats, CHECKING_REPEATS) };
}

/** Whether the replay repeats every run that the set contains now. */
export function coversSet(reading: Reading, workspaceId: string, replay: ReplayRow, set: ReplaySetRow): boolean {
  if (replay.setVersion === set.version) return true;
  const entries = replayInputs.get(reading, workspaceId, replay.id)?.entries ?? [];
  const replayed = new Set(entries.map(({ runId }) => runId));
  return replayEntries.list(reading, workspaceId, [set.id]).every(({ runId }) => replayed.has(runId));
}

/** Finds the newest live replay that is queued, running or finished, and that `fits` accepts. */
function findLive(
  reading: Reading,
  workspaceId: string,
  { id: setId }: ReplaySetRow,
  { live, fits }: Pick<Wanted, "live"> & { readonly fits: (replay: ReplayRow) => boolean },
): ReplayRow | undefined {
  const { runningFingerprint, scoringFingerprint } = live;
  const counts = (replay: ReplayRow) =>
    replay.candidate.kind === "live" && ["queued", "running", "finished"].includes(replay.state) && fits(replay);
  const filter = { setId, runningFingerprint, scoringFingerprint };
  return replays.all(reading, workspaceId, filter, { limit: 1, fits: counts })[0];
}
