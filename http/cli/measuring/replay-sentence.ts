import { FEW, type Money, toCosts, toCount, toMoney, toPercent, toPoints, toRange } from "./figures.js";
import { type ComparedReplay, hasEnded, type Replay, toProgress } from "./replays.js";

/**
 * Says the result of a replay in one sentence: `better: 87.5 % against 50 %, +37.5 points [13, 75], 8 tasks, 0.06
 * against 0.04 USD a run`. Both rates are over the tasks that both sides scored.
 */
export function toSentence({ replay, baseline }: ComparedReplay): string {
  const { againstBaseline: gain, comparedWith } = replay;
  const isFinal = hasEnded(replay) && (baseline === null || hasEnded(baseline));
  const begin = isFinal ? "" : "so far ";
  if (gain === null || comparedWith === null) return toOwnSentence(replay);
  const other = comparedWith.successRate;
  const verdict = gain.verdict === "within-noise" ? "within noise" : gain.verdict;
  const parts = [
    `${begin}${verdict}: ${toPercent(other === null ? null : other + gain.gain)} against ${toPercent(other)}`,
    `${toPoints(gain.gain)} points ${toRange(gain)}`,
    toCount(gain.tasks, "task"),
    toCosts(replay.totals.costPerRun, costOf(baseline), "a run"),
    ...(gain.few ? [FEW] : []),
    ...(gain.otherScoring ? ["the two sides are scored by different rules"] : []),
    ...(replay.state === "stopped" || replay.state === "over-budget" ? [toEnd(replay)] : []),
  ];
  return parts.join(", ");
}

function costOf(baseline: Replay | null): Money | null {
  return baseline?.totals.costPerRun ?? null;
}

/** Says the result of a replay that is compared with no other replay. */
function toOwnSentence(replay: Replay): string {
  const { successRate, interval, tasksScored, few, costPerRun } = replay.totals;
  const isOver = hasEnded(replay);
  if (successRate === null) return isOver ? toUnscored(replay) : toProgress(replay);
  return [
    `${isOver ? "" : "so far "}${toPercent(successRate)} success${interval === null ? "" : ` ${toRange(interval)}`}`,
    toCount(tasksScored, "task"),
    costPerRun === null ? "unknown cost" : `${toMoney(costPerRun)} per run`,
    ...(few ? [FEW] : []),
    isOver && replay.state !== "finished" ? toEnd(replay) : toRole(replay),
  ].join(", ");
}

function toRole({ isBaseline }: Replay): string {
  return isBaseline ? "the live config, which others are compared with" : "not compared with the live config yet";
}

function toEnd({ state, progress }: Replay): string {
  const { settled, of, ceiling } = progress;
  const why = state === "stopped" ? "was stopped" : `reached its ceiling of ${toMoney(ceiling)}`;
  return `${why} after ${settled} of ${of} copies`;
}

/** Names the most frequent reason why copies have no score. */
function toUnscored(replay: Replay): string {
  const counts = new Map<string, number>();
  for (const { why } of replay.entries) if (why !== null) counts.set(why.text, (counts.get(why.text) ?? 0) + 1);
  const [reason] = [...counts].sort(([, one], [, other]) => other - one);
  const end = replay.state === "finished" ? "no copy has a score" : `no copy has a score: it ${toEnd(replay)}`;
  return reason === undefined ? end : `${end}: ${reason[0]}`;
}
