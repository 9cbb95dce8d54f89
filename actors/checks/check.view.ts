import type { Reading } from "../../storage/store.js";
import { atOnce, type InSteps } from "../in-steps.js";
import { toAmount } from "../money.js";
import { listCopies } from "../replays/copies/replay-copy.table.js";
import type { ReplayRow } from "../replays/replay/replay.js";
import { isUnderWay } from "../replays/replay/replay.table.js";
import { findWait, type Wait } from "../replays/replay/replay-waiting.js";
import { replaySets } from "../replays/sets/replay-set.table.js";
import { startWarningTexts } from "../replays/starting/start-warnings.js";
import { successGain } from "../statistics/gain.js";
import { unpricedRun } from "../statistics/spending.js";
import { defineView } from "../view.js";
import type { ReplayCheckRow } from "./check.js";
import { toResult } from "./check-result.js";
import { type CheckResultRow, replayCheckResults } from "./check-result.table.js";
import { type CheckWarningView, listedCheckSchema, type ReplayCheckView, replayCheckSchema } from "./check-schemas.js";
import { type ReplaySides, readSidesInSteps } from "./check-sides.js";

interface Asked {
  readonly reused: boolean;
  /**
   * The reading in which `waiting` looks up runners. Null for a stream's view, which does not show waits for a runner.
   */
  readonly latest: Reading | null;
}

/** Shows the complete check. If a replay is gone, shows the stored results, if there are any. */
export function checkView(reading: Reading, workspaceId: string, row: ReplayCheckRow, asked: Asked): ReplayCheckView {
  return atOnce(viewInSteps(reading, workspaceId, row, asked));
}

/** Like {@link checkView}, but yields between steps so that other work can run. */
export function* viewInSteps(
  reading: Reading,
  workspaceId: string,
  row: ReplayCheckRow,
  { reused, latest }: Asked,
): InSteps<ReplayCheckView> {
  const sides = yield* readSidesInSteps(reading, workspaceId, row);
  yield;
  const result = yield* findResult(reading, workspaceId, row, sides);
  yield;
  return showCheck(row, { reading, workspaceId, latest, sides, result, reused });
}

/** Shows the check in a list. */
export const listedCheckView = defineView<ReplayCheckRow>()(listedCheckSchema, {
  regressions: ({ regressed }) => regressed,
  replayUrl: () => null,
});

interface Sources extends Asked {
  readonly reading: Reading;
  readonly workspaceId: string;
  readonly sides: ReplaySides;
  readonly result: CheckResultRow;
}

const showCheck = defineView<ReplayCheckRow, Sources>()(replayCheckSchema, {
  setName: ({ setId }, { reading, workspaceId }) => replaySets.get(reading, workspaceId, setId)?.name ?? null,
  threshold: (row, { sides }) => thresholdView(row, sides),
  gain: (row, { sides }) => toGain(row, sides),
  waiting: ({ verdict }, { latest, workspaceId, sides }) =>
    verdict === "running" ? whatCheckWaitsFor(latest, workspaceId, sides) : null,
  candidate: (_row, { sides, result }) => ({ state: sides.candidate?.state ?? null, ...result.candidate }),
  baseline: (_row, { sides, result }) => ({ state: sides.baseline?.state ?? null, ...result.baseline }),
  regressions: (_row, { result }) => result.regressions,
  warnings: (row, { result }) => listWarnings(row, result),
  replayUrl: () => null,
  reused: (_row, { reused }) => reused,
});

/**
 * Returns the stored results if a replay is gone and results are stored. Otherwise computes the results from the
 * replays.
 */
function* findResult(
  reading: Reading,
  workspaceId: string,
  row: ReplayCheckRow,
  sides: ReplaySides,
): InSteps<CheckResultRow> {
  const isWhole = sides.candidate !== null && sides.baseline !== null;
  const stored = isWhole ? undefined : replayCheckResults.get(reading, workspaceId, row.id);
  return stored ?? (yield* toResult(reading, workspaceId, row, sides));
}

function thresholdView({ threshold }: ReplayCheckRow, { candidate }: ReplaySides): ReplayCheckView["threshold"] {
  const { currency } = threshold.ceiling;
  const share = candidate === null ? null : { amount: toAmount(unpricedRun(candidate.replay)), currency };
  return { ...threshold, unpricedRun: share };
}

function toGain({ threshold }: ReplayCheckRow, { candidate, baseline }: ReplaySides): ReplayCheckView["gain"] {
  if (candidate === null || baseline === null) return null;
  return successGain(candidate.copies, baseline.copies, threshold.minGain);
}

function listWarnings({ warned }: ReplayCheckRow, { falseFailure }: CheckResultRow): CheckWarningView[] {
  return [
    { kind: "false-failure", text: falseFailureText(falseFailure), chance: falseFailure },
    ...warned.map((kind) => ({ kind, text: startWarningTexts[kind], chance: null })),
  ];
}

function falseFailureText(chance: number | null): string {
  if (chance === null) {
    return (
      "How often a change that changes nothing would fail this check is not measured: no task of the live config has " +
      "been scored twice, or its replay has not ended."
    );
  }
  const percent = (100 * chance).toFixed(1);
  return `About ${percent} % of changes that change nothing would fail this check, by how copies of the live config differ.`;
}

/**
 * Returns what a running check waits for; null if it does not wait. A check waits only if each of its replays in
 * progress waits. A wait for runners takes precedence over a wait for the model.
 *
 * If `latest` is null, the function ignores runners and finds only waits for the model, which the rows of replays
 * store. `latest` should cache views, as for {@link findWait}.
 */
export function whatCheckWaitsFor(
  latest: Reading | null,
  workspaceId: string,
  { candidate, baseline }: Pick<ReplaySides, "candidate" | "baseline">,
): Wait | null {
  const waits = [candidate, baseline]
    .flatMap((side) => (side !== null && isUnderWay(side.replay) ? [side.replay] : []))
    .map((replay) => lookUpWait(latest, workspaceId, replay));
  if (waits.includes(null)) return null;
  return waits.find((wait) => wait?.for === "runner") ?? waits[0] ?? null;
}

function lookUpWait(latest: Reading | null, workspaceId: string, replay: ReplayRow): Wait | null {
  if (latest === null) return replay.waiting;
  const mayWait = replay.counts.running === 0 && replay.counts.queued > 0;
  return findWait(latest, workspaceId, { replay, copies: mayWait ? listCopies(latest, workspaceId, replay.id) : [] });
}
