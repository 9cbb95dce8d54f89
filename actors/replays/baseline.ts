import type { Reading } from "../../storage/store.js";
import type { ReplayRow } from "./replay.js";
import { replays } from "./replay.table.js";
import { replayInputs } from "./replay-input.table.js";
import { type ReplaySetRow, replayEntries } from "./replay-set.table.js";
import type { Fingerprints } from "./station-config.js";

/** Runs whose replays of the live config check the set: fewer tell nothing of its noise (replays, Limits). */
const CHECKED_FROM = 5;
/** Copies of each run that check a set, at least. */
const CHECKING_REPEATS = 3;

/** What a baseline is looked for with. */
interface Wanted {
  /** Those of the live config as it is now. */
  readonly live: Pick<Fingerprints, "runningFingerprint" | "scoringFingerprint">;
  /** Copies of each run that it must have at least; 1 by default. */
  readonly repeats?: number;
}

/**
 * The baseline of a set: the newest replay of the live config as it is now, queued, running or finished, of all its runs
 * and with at least as many copies.
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

/** How often a baseline of a set that is started now repeats each run, and whether it checks the set. */
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

/** Whether the replay is of every run that the set holds now. */
export function coversSet(reading: Reading, workspaceId: string, replay: ReplayRow, set: ReplaySetRow): boolean {
  if (replay.setVersion === set.version) return true;
  const entries = replayInputs.get(reading, workspaceId, replay.id)?.entries ?? [];
  const replayed = new Set(entries.map(({ runId }) => runId));
  return replayEntries.list(reading, workspaceId, [set.id]).every(({ runId }) => replayed.has(runId));
}

/** The newest replay of the live config that may count as a baseline. */
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
