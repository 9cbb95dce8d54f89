import { toNumberOrNull } from "../../fraction.js";
import { type Copy, FEW, successRate, taskShares } from "../../statistics/copy.js";
import { type Gain, roomToImprove, successGain } from "../../statistics/gain.js";
import { measureNoise, type Noise } from "../../statistics/noise.js";
import {
  type CheckFlakiness,
  checkFlakiness,
  type JudgeAgreement,
  judgeAgreement,
  type TwoLooks,
} from "../../statistics/second-looks.js";
import { type Saturation, saturation } from "../../statistics/success.js";

type ReplayState = "queued" | "running" | "finished" | "stopped" | "over-budget";

/** The fields of a replay that its set's health depends on. */
export interface HealthReplay {
  readonly id: string;
  readonly candidate: { readonly id: string; readonly kind: string };
  /** The fingerprint of the whole config. */
  readonly fingerprint: string;
  readonly state: ReplayState;
  readonly repeats: number;
  readonly endedAt: string | null;
  /** For a replay with the answer: the live replay that this replay is compared with. Null for other replays. */
  readonly answers: string | null;
  readonly search: object | null;
}

/** A change that was checked twice. */
export interface CheckedTwice extends TwoLooks {
  readonly taskId: string;
  readonly originalRunId: string;
  /** The run of the copy; null if the copy has no run. */
  readonly runId: string | null;
}

/**
 * The second judgings and the second checks of a replay that checks its set; null for a kind that was not requested.
 */
export interface SecondLooks {
  readonly judgings: readonly TwoLooks[] | null;
  readonly checks: readonly CheckedTwice[] | null;
}

/** The data for computing a set's health. */
export interface HealthSources<Replay extends HealthReplay> {
  /**
   * The set's replays with the current live config's running and scoring fingerprints, including replays with the
   * answer; newest first. Empty when the station left its line.
   */
  readonly ofLiveConfig: readonly Replay[];
  /** The newest finished replay that checks the set, under any config; undefined if there is none. */
  readonly check: Replay | undefined;
  readonly minGain: number;
  readonly find: (replayId: string) => Replay | undefined;
  /** Whether the replay repeats all of the set's runs. */
  readonly coversSet: (replay: Replay) => boolean;
  readonly copiesOf: (replay: Replay) => readonly Copy[];
  readonly secondLooksOf: (replay: Replay) => SecondLooks;
}

/** A set's health (document 2, "Set health"). */
export interface SetHealth {
  readonly noise: NoiseHealth | null;
  readonly saturation: SaturationHealth | null;
  readonly judge: (JudgeAgreement & { readonly replayId: string }) | null;
  readonly checks: (CheckFlakiness<CheckedTwice> & { readonly replayId: string }) | null;
  readonly oracle: OracleHealth | null;
}

/** The number of tasks behind a figure, and whether that number is below 5. */
interface Sampled {
  readonly tasks: number;
  readonly few: boolean;
}

interface NoiseHealth extends Noise, Sampled {
  readonly replayId: string;
  readonly fingerprint: string;
  readonly repeats: number;
  readonly measuredAt: string | null;
}

interface SaturationHealth extends Saturation, Sampled {
  readonly replayId: string;
  readonly measuredAt: string | null;
}

interface OracleHealth {
  readonly replayId: string;
  readonly candidateId: string;
  readonly repeats: number;
  readonly state: ReplayState;
  readonly againstReplayId: string;
  /** `gone`: the live replay was removed. */
  readonly againstState: ReplayState | "gone";
  /** The number of runs that the replay with the answer repeats. */
  readonly answered: number;
  /** Success rates on the repeated runs. This field and all following fields are null until both replays finish. */
  readonly live: number | null;
  readonly withAnswer: number | null;
  readonly gain: Gain | null;
  readonly roomToImprove: boolean | null;
}

/** Lists the replays from which a set's health is computed, without duplicates. */
export function listNamed<Replay extends HealthReplay>(
  sources: Pick<HealthSources<Replay>, "ofLiveConfig" | "check" | "find" | "coversSet">,
): readonly Replay[] {
  const oracle = findOracle(sources);
  const against = oracle === undefined || oracle.answers === null ? undefined : sources.find(oracle.answers);
  const named = [findNoisy(sources), findWhole(sources), sources.check, oracle, against];
  return [...new Set(named.filter((replay) => replay !== undefined))];
}

/** Computes a set's health from its replays. */
export function measureHealth<Replay extends HealthReplay>(sources: HealthSources<Replay>): SetHealth {
  const { check, secondLooksOf: toSecondLooks } = sources;
  const { judgings = null, checks = null } = check === undefined ? {} : toSecondLooks(check);
  const replayId = check?.id ?? "";
  return {
    noise: findNoise(sources),
    saturation: findSaturation(sources),
    judge: judgings === null ? null : { replayId, ...judgeAgreement(judgings) },
    checks: checks === null ? null : { replayId, ...checkFlakiness(checks) },
    oracle: lookUpOracle(sources),
  };
}

/** Finds the newest finished live replay that has several copies of each run. */
function findNoisy<Replay extends HealthReplay>({ ofLiveConfig }: Pick<HealthSources<Replay>, "ofLiveConfig">) {
  return ofLiveConfig.find((each) => isFinishedLive(each) && each.repeats > 1);
}

function findNoise<Replay extends HealthReplay>(sources: HealthSources<Replay>): NoiseHealth | null {
  const { minGain, copiesOf: listCopies } = sources;
  const replay = findNoisy(sources);
  if (replay === undefined) return null;
  const { id: replayId, fingerprint, repeats, endedAt: measuredAt } = replay;
  const copies = listCopies(replay);
  const noise = measureNoise(copies, { repeats, minGain });
  return noise === null ? null : { replayId, fingerprint, repeats, ...noise, measuredAt, ...sampledBy(copies) };
}

/** Finds the newest finished live replay that covers the whole set and was not started by a search. */
function findWhole<Replay extends HealthReplay>({
  ofLiveConfig,
  coversSet,
}: Pick<HealthSources<Replay>, "ofLiveConfig" | "coversSet">) {
  return ofLiveConfig.find((each) => isFinishedLive(each) && each.search === null && coversSet(each));
}

function findSaturation<Replay extends HealthReplay>(sources: HealthSources<Replay>): SaturationHealth | null {
  const replay = findWhole(sources);
  if (replay === undefined) return null;
  const copies = sources.copiesOf(replay);
  const found = saturation(copies);
  return found === null ? null : { replayId: replay.id, ...found, measuredAt: replay.endedAt, ...sampledBy(copies) };
}

function isFinishedLive({ candidate, state }: HealthReplay): boolean {
  return candidate.kind === "live" && state === "finished";
}

/** Finds the newest replay that ran the live config with the answer. */
function findOracle<Replay extends HealthReplay>({ ofLiveConfig }: Pick<HealthSources<Replay>, "ofLiveConfig">) {
  return ofLiveConfig.find(({ candidate }) => candidate.kind === "with-answer");
}

function lookUpOracle<Replay extends HealthReplay>(sources: HealthSources<Replay>): OracleHealth | null {
  const replay = findOracle(sources);
  if (replay === undefined || replay.answers === null) return null;
  const against = sources.find(replay.answers);
  return {
    replayId: replay.id,
    candidateId: replay.candidate.id,
    repeats: replay.repeats,
    state: replay.state,
    againstReplayId: replay.answers,
    againstState: against?.state ?? "gone",
    ...compareAnswered(sources, replay, against),
  };
}

function compareAnswered<Replay extends HealthReplay>(
  { copiesOf: listCopies, minGain }: Pick<HealthSources<Replay>, "copiesOf" | "minGain">,
  replay: Replay,
  against: Replay | undefined,
): Pick<OracleHealth, "answered" | "live" | "withAnswer" | "gain" | "roomToImprove"> {
  const own = listCopies(replay);
  const runs = new Set(own.map(({ originalRunId }) => originalRunId));
  const answered = runs.size;
  if (against?.state !== "finished" || replay.state !== "finished") {
    return { answered, live: null, withAnswer: null, gain: null, roomToImprove: null };
  }
  const other = listCopies(against).filter(({ originalRunId }) => runs.has(originalRunId));
  const gain = successGain(own, other, minGain);
  return {
    answered,
    live: toNumberOrNull(successRate(other)),
    withAnswer: toNumberOrNull(successRate(own)),
    gain,
    roomToImprove: roomToImprove(gain),
  };
}

function sampledBy(copies: readonly Copy[]): Sampled {
  const tasks = taskShares(copies).size;
  return { tasks, few: tasks < FEW };
}
