import type { Reading } from "../../../storage/store.js";
import type { JudgingSetup } from "../../lines/fingerprint.js";
import { DEFAULT_MIN_GAIN } from "../../lines/line.js";
import { findLine } from "../../lines/line.queries.js";
import { findLiveFingerprints } from "../candidates/station-config.js";
import { listCopies } from "../copies/replay-copy.table.js";
import { listNamed, measureHealth, type SecondLooks, type SetHealth } from "../figures/set-health.js";
import { twoChecks, twoJudgings } from "../judging/judging.view.js";
import { readReplayRows, toName } from "../reads/replay-parts.js";
import type { ReplayRow } from "../replay/replay.js";
import { replays } from "../replay/replay.table.js";
import type { ReplayMemory } from "../replay/replay-memory.js";
import { coversSet } from "./baseline.js";
import type { ReplaySetRow } from "./replay-set.js";

/** Maximum number of replays of the live config from which a set's health is computed. The newest ones are used. */
const MAX_LOOKED_AT = 200;

/** What the computation of a set's health needs besides the set: how the deployment judges, and the cached figures. */
export interface HealthTerms {
  readonly judging: JudgingSetup;
  readonly memory: ReplayMemory;
}

/** Returns the current health of a set. */
export function readHealth(
  reading: Reading,
  workspaceId: string,
  set: ReplaySetRow,
  { judging, memory }: HealthTerms,
): SetHealth {
  const live = findLiveFingerprints(reading, workspaceId, set, judging);
  return measureHealth({
    ...findSources(reading, workspaceId, set, live),
    minGain: findLine(reading, workspaceId, set.lineId)?.replayCheck?.minGain ?? DEFAULT_MIN_GAIN,
    copiesOf: (replay) => memory.listCopies(reading, workspaceId, replay),
    secondLooksOf: (replay) => getSecondLooks(reading, workspaceId, replay),
  });
}

/**
 * Whether the health of a set names a replay. Call it only for a replay that has the running and scoring fingerprints
 * of the live config.
 */
export function isNamedByHealth(reading: Reading, workspaceId: string, set: ReplaySetRow, replay: ReplayRow): boolean {
  return listNamed(findSources(reading, workspaceId, set, replay)).some(({ id }) => id === replay.id);
}

/** Whether a replay is the newest finished replay that checks its set, under any config. */
export function isNewestCheck(reading: Reading, workspaceId: string, set: ReplaySetRow, replay: ReplayRow): boolean {
  return findCheck(reading, workspaceId, set)?.id === replay.id;
}

/** The two fingerprints that identify the baseline of a config. */
type Config = Pick<ReplayRow, "runningFingerprint" | "scoringFingerprint">;

function findSources(reading: Reading, workspaceId: string, set: ReplaySetRow, live: Config | undefined) {
  return {
    ofLiveConfig: live === undefined ? [] : listMeasuring(reading, workspaceId, set, live),
    check: findCheck(reading, workspaceId, set),
    find: (id: string) => replays.get(reading, workspaceId, id),
    coversSet: (replay: ReplayRow) => coversSet(reading, workspaceId, replay, set),
  };
}

function listMeasuring(reading: Reading, workspaceId: string, set: ReplaySetRow, config: Config) {
  const { runningFingerprint, scoringFingerprint } = config;
  const filter = { setId: set.id, runningFingerprint, scoringFingerprint };
  return replays.all(reading, workspaceId, filter, { limit: MAX_LOOKED_AT, fits: isMeasuring });
}

function isMeasuring({ candidate }: ReplayRow): boolean {
  return candidate.kind === "live" || candidate.kind === "with-answer";
}

/** Returns the newest finished replay that checks a set; undefined if there is none. */
function findCheck(reading: Reading, workspaceId: string, { id: setId }: ReplaySetRow): ReplayRow | undefined {
  const fits = ({ state }: ReplayRow) => state === "finished";
  return replays.all(reading, workspaceId, { checksSet: setId }, { limit: 1, fits })[0];
}

function getSecondLooks(reading: Reading, workspaceId: string, { id: replayId }: ReplayRow): SecondLooks {
  const { first, second, rechecks } = readReplayRows(reading, workspaceId, { replayId });
  const copies = listCopies(reading, workspaceId, replayId);
  const judgings = copies.map((copy) => twoJudgings(first.get(toName(copy)), second.get(toName(copy))));
  const checks = copies.map(({ taskId, originalRunId, runId, ...copy }) => ({
    taskId,
    originalRunId,
    runId,
    ...twoChecks(copy, rechecks.get(toName(copy))),
  }));
  return { judgings: second.size === 0 ? null : judgings, checks: rechecks.size === 0 ? null : checks };
}
