import { createHash } from "node:crypto";
import type { TurnReading } from "../../runtime/turns/turn.js";
import type { Reading } from "../../storage/store.js";
import type { JudgingSetup } from "../lines/fingerprint.js";
import { findLine } from "../lines/line.queries.js";
import { isRefusal, type Refusal } from "../refusal.js";
import { findRemovableReplays } from "../replays/budget/replay-quota.js";
import type { ReplayRow } from "../replays/replay/replay.js";
import { findBaseline } from "../replays/sets/baseline.js";
import { findStationByKey, refusePlanner } from "../replays/sets/replay-set.queries.js";
import { replaySets } from "../replays/sets/replay-set.table.js";
import { noRuns, refuseMore } from "../replays/starting/start-refusals.js";
import { findStartingPoint, type StartingPoint } from "../replays/starting/starting-point.js";
import { canonicalJson } from "../resources/canonical-json.js";
import { findRequestBefore } from "../resources/repeated-request.js";
import { findLeaving } from "../tables/row-quota.js";
import type { CheckThreshold, ReplayCheckRow } from "./check.js";
import type { CheckTerms, StartCheck } from "./check.messages.js";
import { replayChecks } from "./check.table.js";
import { type PreparedChange, prepareChange } from "./planned-change.js";

/** The data from which a check starts. */
export interface PreparedCheck {
  readonly point: StartingPoint;
  readonly change: PreparedChange;
  readonly terms: CheckTerms;
  readonly threshold: CheckThreshold;
  readonly attempt: number;
  readonly runsDigest: string;
  /** The set's existing baseline; null if the check must start one. */
  readonly baseline: ReplayRow | null;
  /**
   * The ids of the set's replays (`replaced`) and checks (`leaving`) to remove, so that the new replays and the new
   * check fit.
   */
  readonly replaced: readonly string[];
  readonly leaving: readonly string[];
}

/** The result of a start request: a new check, an existing check, or a refusal. */
export type CheckStart =
  | { readonly to: "start"; readonly prepared: PreparedCheck }
  | { readonly to: "reuse" | "repeat"; readonly checkId: string }
  | { readonly to: "refuse"; readonly refusal: Refusal };

/**
 * Prepares a check. Only reads. Refuses for the first reason that applies:
 * 1. The caller may not plan.
 * 2. The idempotency key conflicts with an earlier request.
 * 3. The station does not exist.
 * 4. The line has no terms for checks.
 * 5. No set guards the station's changes, or the set has no runs.
 * 6. The planned block is invalid, or has no effect on runs.
 * 7. Other terms are invalid.
 * 8. Too many replays are in progress.
 * 9. There is no space for the replays, or for the check.
 */
export function prepareCheck(message: StartCheck, turn: TurnReading, judging: JudgingSetup): CheckStart {
  const refused = refusePlanner(turn, message.caller, message.teamId);
  if (refused !== null) return refuse(refused);
  const before = findRequestBefore(turn, message);
  if (isRefusal(before)) return refuse(before);
  if (before !== null) return repeat(turn, before);
  const guarded = findGuarded(turn, message, judging);
  if (isRefusal(guarded)) return refuse(guarded);
  const { point, threshold } = guarded;
  const change = prepareChange(turn, point, message.planned, { caller: message.caller, judging });
  if (isRefusal(change)) return refuse(change);
  if ("errors" in message.terms) return refuse({ refused: "invalid", errors: message.terms.errors });
  return prepareFor(turn, { point, threshold, change, terms: message.terms.data });
}

type Asked = Pick<PreparedCheck, "point" | "threshold" | "change" | "terms">;

function prepareFor(turn: TurnReading, asked: Asked): CheckStart {
  const { partition } = turn.self;
  const { point, threshold, change, terms } = asked;
  const { set, fingerprints: live, entries } = point;
  const runsDigest = digestRuns(entries.map(({ runId }) => runId));
  const earlier = listEarlier(turn, partition, {
    stationId: set.stationId,
    candidateRunning: change.fingerprints.runningFingerprint,
    liveRunning: live.runningFingerprint,
  });
  const { repeats } = terms;
  const wanted: CheckedWith = { setId: set.id, runsDigest, threshold, scoring: live.scoringFingerprint, repeats };
  const same = findReusable(earlier, wanted);
  if (same !== undefined) return { to: "reuse", checkId: same.id };
  const full = refuseMore(turn, set);
  if (full !== null) return refuse(full);
  const baseline = findBaseline(turn, partition, set, { live, repeats }) ?? null;
  const count = baseline === null ? 2 : 1;
  const replaced = findRemovableReplays(turn, set, { count, beside: baseline?.id ?? null });
  if (isRefusal(replaced)) return refuse(replaced);
  const leaving = findRemovableChecks(turn, set.id);
  if (isRefusal(leaving)) return refuse(leaving);
  const attempt = 1 + Math.max(0, ...earlier.map((check) => check.attempt));
  return { to: "start", prepared: { ...asked, attempt, runsDigest, baseline, replaced, leaving } };
}

function repeat(turn: TurnReading, checkId: string): CheckStart {
  if (replayChecks.get(turn, turn.self.partition, checkId) !== undefined) return { to: "repeat", checkId };
  return refuse({
    refused: "conflict",
    detail: "The replay check that this Idempotency-Key started has been removed.",
  });
}

/**
 * Finds the set that guards changes to the station, and the thresholds of the live line. Refuses if the set or the
 * thresholds are missing, or if the set has no runs.
 */
function findGuarded(
  turn: TurnReading,
  { teamId, lineId, stationKey }: Pick<StartCheck, "teamId" | "lineId" | "stationKey">,
  judging: JudgingSetup,
): Pick<PreparedCheck, "point" | "threshold"> | Refusal {
  const { partition } = turn.self;
  const place = findStationByKey(turn, { workspaceId: partition, teamId }, { lineId, stationKey });
  if (isRefusal(place)) return place;
  const threshold = findThreshold(turn, partition, lineId);
  if (threshold === null) return withoutTerms;
  const set = replaySets.all(turn, partition, { teamId, ...place }).find(({ guardsChanges }) => guardsChanges);
  const point = set === undefined ? undefined : findStartingPoint(turn, set, judging);
  if (point === undefined) return unguarded(stationKey);
  return point.entries.length === 0 ? noRuns : { point, threshold };
}

function findThreshold(turn: TurnReading, workspaceId: string, lineId: string): CheckThreshold | null {
  const terms = findLine(turn, workspaceId, lineId)?.replayCheck ?? null;
  if (terms === null) return null;
  const { mostRegressions, minGain, ceiling: amount, currency } = terms;
  return { mostRegressions, minGain, ceiling: { amount, currency } };
}

const withoutTerms: Refusal = {
  refused: "conflict",
  detail: "The line has no replay_check block. A check needs its most_regressions, ceiling and currency.",
};

function unguarded(stationKey: string): Refusal {
  const detail = `No replay set guards changes to the station ${stationKey}. Mark one of its sets as guarding them.`;
  return { refused: "conflict", detail };
}

function refuse(refusal: Refusal): CheckStart {
  return { to: "refuse", refusal };
}

/** A change of a station, identified by the running fingerprints before and after the change. */
type ChangeOf = Pick<ReplayCheckRow, "stationId" | "candidateRunning" | "liveRunning">;

/**
 * The values that an earlier check of the same change must share with the new check, so that the service can reuse the
 * earlier check.
 */
type CheckedWith = Pick<ReplayCheckRow, "setId" | "runsDigest" | "threshold" | "scoring" | "repeats">;

/** Lists the checks of a change, newest first. */
function listEarlier(reading: Reading, workspaceId: string, of: ChangeOf): readonly ReplayCheckRow[] {
  const { stationId, candidateRunning, liveRunning } = of;
  return replayChecks.all(reading, workspaceId, { stationId, candidateRunning, liveRunning });
}

/**
 * Finds the newest earlier check with the wanted runs and terms. A running check counts, and a check with the verdict
 * `undecided` does not. Returns undefined if there is none.
 */
function findReusable(earlier: readonly ReplayCheckRow[], wanted: CheckedWith): ReplayCheckRow | undefined {
  const terms = toTerms(wanted);
  return earlier.find((check) => check.verdict !== "undecided" && toTerms(check) === terms);
}

function toTerms({ setId, runsDigest, threshold, scoring, repeats }: CheckedWith): string {
  return canonicalJson({ setId, runsDigest, threshold, scoring, repeats });
}

/** Returns a digest of a set's runs that does not depend on their order. */
function digestRuns(runIds: readonly string[]): string {
  return createHash("sha256")
    .update([...runIds].sort().join(" "))
    .digest("hex");
}

/** Maximum number of checks stored for a set. */
const MAX_CHECKS = 200;

/**
 * Returns the ids of the set's oldest ended checks to remove so that one more check fits. Refuses if too few checks
 * have ended.
 */
export function findRemovableChecks(turn: TurnReading, setId: string): readonly string[] | Refusal {
  const oldestFirst = replayChecks.all(turn, turn.self.partition, { setId }).toReversed();
  const mayGo = ({ endedAt }: ReplayCheckRow) => endedAt !== null;
  const leaving = findLeaving(oldestFirst, { most: MAX_CHECKS, count: 1, mayGo });
  return leaving === null ? full : leaving.map(({ id }) => id);
}

const full: Refusal = {
  refused: "conflict",
  detail: `The set has its ${MAX_CHECKS} replay checks, and none of them has ended. Wait until one has.`,
};
