import type { Turn, TurnReading } from "../../../runtime/turns/turn.js";
import type { JudgingSetup, RunConfig } from "../../lines/fingerprint.js";
import type { RunAnswer } from "../../runs/run-answer.js";
import { storeText } from "../../tables/text-blobs.js";
import { freeReplayQuota } from "../budget/replay-quota.js";
import { toConfig, toFingerprints, toJudgeModel } from "../candidates/station-config.js";
import type { ReplayRow } from "../replay/replay.js";
import { listUnderWay, replays } from "../replay/replay.table.js";
import { getReplayInput, type ReplayEntry } from "../replay/replay-input.table.js";
import { coversSet } from "../sets/baseline.js";
import { listEntries } from "../sets/list-entries.js";
import type { ReplaySetRow } from "../sets/replay-set.js";
import { replaySets } from "../sets/replay-set.table.js";
import { findStationNow } from "../sets/run-refusal.js";
import { MAX_UNDER_WAY, orderReplay } from "../starting/replay-plan.js";
import { type FoundAnswer, findAnswer } from "./find-answer.js";

/**
 * Replays with the answer. Such a replay follows a finished replay of the live config over the whole set. It repeats
 * runs under the same config, but each agent also gets the expected result of its work. The gain is an upper bound for
 * any better config, measured by the same check and judge.
 *
 * 1. A live replay has at most one replay with the answer, and only if a check or a judge scores the copies.
 * 2. A replay with the answer repeats the set's runs that were accepted or sent back and whose answer is stored, with
 *   the live replay's repeats and ceiling.
 */

/**
 * Whether a replay with the answer may follow a live replay that finishes now. {@link startOracle} checks further
 * conditions.
 */
export function isFollowed(turn: TurnReading, live: ReplayRow, judging: JudgingSetup): boolean {
  const { partition } = turn.self;
  const { config, entries } = getReplayInput(turn, partition, live.id);
  const isAnswered = ({ runId, refusal }: ReplayEntry) =>
    refusal === null && findAnswer(turn, partition, runId) !== null;
  return !isUnwanted(turn, live) && isScored(config, judging) && entries.some(isAnswered);
}

/**
 * Whether no replay with the answer may follow the live replay: the start request excluded one, or a search or a check
 * started the live replay.
 */
function isUnwanted(turn: TurnReading, live: ReplayRow): boolean {
  return live.oracle === false || isOfOthers(turn, live);
}

/**
 * Whether a search or a check, not a person, started the live replay. The budget of a search or a check is limited, and
 * a replay with the answer would not count against it.
 *
 * If a check started the live replay as its baseline, the check has another replay, which is paired with the live
 * replay. The other replay is stored for at least as long as the baseline runs, so this function can find it.
 */
function isOfOthers(turn: TurnReading, { id, search }: ReplayRow): boolean {
  if (search !== null) return true;
  const paired = replays.all(turn, turn.self.partition, { pairedWith: id });
  return paired.some(({ candidate, startedBaseline }) => candidate.kind === "planned" && startedBaseline === id);
}

/**
 * Starts the replay with the answer after a live replay. Call it in a turn of the actor of the team's replay sets. Does
 * nothing in these cases:
 * - The live replay did not finish, must have no replay with the answer, or already has one.
 * - The set or its config has changed since the live replay started.
 * - Nothing scores the copies, or no run has an answer.
 * - The team or the set has reached a limit.
 */
export function startOracle(turn: Turn, liveId: string, judging: JudgingSetup): void {
  const { partition } = turn.self;
  const live = replays.get(turn, partition, liveId);
  const set = live && replaySets.get(turn, partition, live.setId);
  if (live?.state !== "finished" || set === undefined || isUnwanted(turn, live)) return;
  if (!coversSet(turn, partition, live, set)) return;
  if (hasOracle(turn, live) || listUnderWay(turn, partition, set).length >= MAX_UNDER_WAY) return;
  const now = configNow(turn, set, judging);
  if (now === undefined || !isReplayedConfig(live, now) || !isScored(now.config, judging)) return;
  const entries = listAnswered(turn, set);
  if (entries.length === 0 || freeReplayQuota(turn, set, { count: 1, beside: live.id }) !== null) return;
  const { line, station: block, config, fingerprints } = now;
  orderReplay(turn, {
    set,
    line,
    block,
    config,
    live: config,
    fingerprints,
    entries,
    concurrency: null,
    judgeModel: toJudgeModel(config, judging),
    candidate: { id: turn.newId("cand"), name: `With the answer ${live.candidate.name}`, kind: "with-answer" },
    repeats: live.repeats,
    ceiling: live.ceiling,
    probe: false,
    pairedWith: null,
    startedBaseline: null,
    answers: live.id,
    search: null,
  });
}

/**
 * Whether a check or a judge scores the copies. False if the station has a judge but no model is configured, because
 * then no copy is scored.
 */
function isScored({ station: { check, judge } }: RunConfig, { defaultModel }: JudgingSetup): boolean {
  return judge === null ? check !== null : defaultModel !== null;
}

function hasOracle(turn: Turn, { id, setId }: ReplayRow): boolean {
  const fits = ({ answers }: ReplayRow): boolean => answers === id;
  return replays.all(turn, turn.self.partition, { setId }, { limit: 1, fits }).length > 0;
}

/** Returns the live config of the set's station; undefined if the station left its line. */
function configNow(turn: Turn, set: ReplaySetRow, judging: JudgingSetup) {
  const { partition: workspaceId } = turn.self;
  const { line, station } = findStationNow(turn, workspaceId, set);
  if (line === undefined || station === undefined) return undefined;
  const config = toConfig(turn, { workspaceId, teamId: set.teamId, line }, station);
  return { line, station, config, fingerprints: toFingerprints(config, judging) };
}

/** Whether the current live config is still the config that was replayed. */
function isReplayedConfig(live: ReplayRow, { fingerprints }: NonNullable<ReturnType<typeof configNow>>): boolean {
  const { runningFingerprint, scoringFingerprint } = fingerprints;
  return live.runningFingerprint === runningFingerprint && live.scoringFingerprint === scoringFingerprint;
}

/** Lists the set's runs that have an answer, with the answer. */
function listAnswered(turn: Turn, set: ReplaySetRow): readonly ReplayEntry[] {
  const { partition } = turn.self;
  return listEntries(turn, set).flatMap((entry) => {
    const found = entry.refusal === null ? findAnswer(turn, partition, entry.runId) : null;
    return found === null ? [] : [{ ...entry, answer: toStored(turn, found) }];
  });
}

function toStored(turn: Turn, { note, accepted }: FoundAnswer): RunAnswer {
  return { note: note === null ? null : storeText(turn, turn.self.partition, note), accepted };
}
