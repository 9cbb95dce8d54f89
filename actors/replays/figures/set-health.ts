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

/** A replay of a set, as far as the set's health is concerned. */
export interface HealthReplay {
  readonly id: string;
  readonly candidate: { readonly id: string; readonly kind: string };
  /** Of the whole config. */
  readonly fingerprint: string;
  readonly state: ReplayState;
  readonly repeats: number;
  readonly endedAt: string | null;
  /** The live replay that one with the answer stands beside. */
  readonly answers: string | null;
  readonly search: object | null;
}

/** A change that was checked twice. */
export interface CheckedTwice extends TwoLooks {
  readonly taskId: string;
  readonly originalRunId: string;
  /** The copy's run. */
  readonly runId: string | null;
}

/** The second looks of a replay that checks its set; null where none of the kind was asked for. */
export interface SecondLooks {
  readonly judgings: readonly TwoLooks[] | null;
  readonly checks: readonly CheckedTwice[] | null;
}

/** What a set's health is read from. */
export interface HealthSources<Replay extends HealthReplay> {
  /**
   * The set's replays under the live config as it is now, in how runs go and how they are scored, also those with the
   * answer; newest first. None when the station left its line.
   */
  readonly ofLiveConfig: readonly Replay[];
  /** The newest finished replay that checks the set, of whatever config. */
  readonly check: Replay | undefined;
  readonly minGain: number;
  readonly find: (replayId: string) => Replay | undefined;
  /** Whether it replays all of the set's runs. */
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

/** The tasks that figures are of, and whether they are fewer than 5. */
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
  /** The runs that it replays. */
  readonly answered: number;
  /** Success on those runs. Null until both finished, as all that follows. */
  readonly live: number | null;
  readonly withAnswer: number | null;
  readonly gain: Gain | null;
  readonly roomToImprove: boolean | null;
}

/** The replays that a set's health is read from, each once. */
export function listNamed<Replay extends HealthReplay>(
  sources: Pick<HealthSources<Replay>, "ofLiveConfig" | "check" | "find" | "coversSet">,
): readonly Replay[] {
  const oracle = findOracle(sources);
  const against = oracle === undefined || oracle.answers === null ? undefined : sources.find(oracle.answers);
  const named = [findNoisy(sources), findWhole(sources), sources.check, oracle, against];
  return [...new Set(named.filter((replay) => replay !== undefined))];
}

export function measureHealth<Replay extends HealthReplay>(sources: HealthSources<Replay>): SetHealth {
  const { check, secondLooksOf } = sources;
  const { judgings = null, checks = null } = check === undefined ? {} : secondLooksOf(check);
  const replayId = check?.id ?? "";
  return {
    noise: noiseOf(sources),
    saturation: saturationOf(sources),
    judge: judgings === null ? null : { replayId, ...judgeAgreement(judgings) },
    checks: checks === null ? null : { replayId, ...checkFlakiness(checks) },
    oracle: oracleOf(sources),
  };
}

/** The newest finished replay of the live config that copied each run more than once. */
function findNoisy<Replay extends HealthReplay>({ ofLiveConfig }: Pick<HealthSources<Replay>, "ofLiveConfig">) {
  return ofLiveConfig.find((each) => isFinishedLive(each) && each.repeats > 1);
}

function noiseOf<Replay extends HealthReplay>(sources: HealthSources<Replay>): NoiseHealth | null {
  const { minGain, copiesOf } = sources;
  const replay = findNoisy(sources);
  if (replay === undefined) return null;
  const { id: replayId, fingerprint, repeats, endedAt: measuredAt } = replay;
  const copies = copiesOf(replay);
  const noise = measureNoise(copies, { repeats, minGain });
  return noise === null ? null : { replayId, fingerprint, repeats, ...noise, measuredAt, ...sampledBy(copies) };
}

/** The newest finished replay of the live config over the whole set that no search started. */
function findWhole<Replay extends HealthReplay>({
  ofLiveConfig,
  coversSet,
}: Pick<HealthSources<Replay>, "ofLiveConfig" | "coversSet">) {
  return ofLiveConfig.find((each) => isFinishedLive(each) && each.search === null && coversSet(each));
}

function saturationOf<Replay extends HealthReplay>(sources: HealthSources<Replay>): SaturationHealth | null {
  const replay = findWhole(sources);
  if (replay === undefined) return null;
  const copies = sources.copiesOf(replay);
  const found = saturation(copies);
  return found === null ? null : { replayId: replay.id, ...found, measuredAt: replay.endedAt, ...sampledBy(copies) };
}

function isFinishedLive({ candidate, state }: HealthReplay): boolean {
  return candidate.kind === "live" && state === "finished";
}

/** The newest replay with the answer of the live config. */
function findOracle<Replay extends HealthReplay>({ ofLiveConfig }: Pick<HealthSources<Replay>, "ofLiveConfig">) {
  return ofLiveConfig.find(({ candidate }) => candidate.kind === "with-answer");
}

function oracleOf<Replay extends HealthReplay>(sources: HealthSources<Replay>): OracleHealth | null {
  const replay = findOracle(sources);
  if (replay === undefined || replay.answers === null) return null;
  const against = sources.find(replay.answers);
  return {
    ...{ replayId: replay.id, candidateId: replay.candidate.id, repeats: replay.repeats, state: replay.state },
    ...{ againstReplayId: replay.answers, againstState: against?.state ?? "gone" },
    ...compareAnswered(sources, replay, against),
  };
}

function compareAnswered<Replay extends HealthReplay>(
  { copiesOf, minGain }: Pick<HealthSources<Replay>, "copiesOf" | "minGain">,
  replay: Replay,
  against: Replay | undefined,
): Pick<OracleHealth, "answered" | "live" | "withAnswer" | "gain" | "roomToImprove"> {
  const own = copiesOf(replay);
  const runs = new Set(own.map(({ originalRunId }) => originalRunId));
  const answered = runs.size;
  if (against?.state !== "finished" || replay.state !== "finished") {
    return { answered, live: null, withAnswer: null, gain: null, roomToImprove: null };
  }
  const other = copiesOf(against).filter(({ originalRunId }) => runs.has(originalRunId));
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
