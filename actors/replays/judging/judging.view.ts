import { z } from "zod";
import type { Reading } from "../../../storage/store.js";
import type { PairReason } from "../../judging/pair-question.js";
import { type Judge, toPassShare, toScale } from "../../judging/scales.js";
import type { JudgeReason } from "../../judging/verdict.js";
import { boundMoney, type Money } from "../../money.js";
import type { ModelSpent } from "../../outbound/models/model-cost.js";
import { runs } from "../../runs/run.table.js";
import type { LookResult, TwoLooks } from "../../statistics/second-looks.js";
import { defineView } from "../../view.js";
import { excerptTexts, REASONS_BYTES } from "../figures/excerpt.js";
import { type JudgeView, judgeSchema, type PairView, pairSchema, readingSchema } from "../reads/copy-schemas.js";
import type { ReplayCopyRow } from "../replay/replay.js";
import type { ReplayPairRow, StoredReading } from "./replay-pair.table.js";
import type { ReplayRecheckRow } from "./replay-recheck.table.js";
import type { ReplayVerdictRow, StoredVerdict } from "./replay-verdict.table.js";
import { readReasons, type StoredReasons } from "./stored-reasons.js";

/**
 * How much of each text to read. `brief` reads only the text that the rows contain, for entries. Otherwise the complete
 * texts are read.
 */
export type Texts = "brief" | { readonly reading: Reading; readonly workspaceId: string };

interface JudgedBy {
  readonly judge: Judge;
  readonly texts: Texts;
}

const showVerdict = defineView<StoredVerdict, JudgedBy>()(judgeSchema, {
  passShare: (_verdict, { judge }) => (toScale(judge) === "claims" ? toPassShare(judge) : null),
  claims: (_verdict, { judge: { claims }, texts }) =>
    texts === "brief" ? excerptTexts(claims, REASONS_BYTES) : claims,
  reasons: ({ reasons }, { texts }) => readAll(reasons, judgeReason, texts),
});

/**
 * Shows a judging in the form that entries use (see `judge` in "Replay (read)" of the replays document). Without a
 * verdict, all fields are null or empty.
 */
export function judgeView(row: ReplayVerdictRow | undefined, judge: Judge | null, texts: Texts): JudgeView {
  const verdict = row?.verdict ?? null;
  return verdict === null || judge === null ? NO_VERDICT : showVerdict(verdict, { judge, texts });
}

const NO_VERDICT: JudgeView = {
  scale: null,
  passed: null,
  score: null,
  marks: null,
  passShare: null,
  model: null,
  promptVersion: null,
  cut: null,
  claims: [],
  reasons: [],
};

const showReading = defineView<StoredReading, Texts>()(readingSchema, {
  reasons: ({ reasons }, texts) => readAll(reasons, pairReason, texts),
});

const showPair = defineView<ReplayPairRow, Texts>()(pairSchema, {
  readings: ({ readings }, texts) =>
    readings.length === 0 ? null : readings.map((reading) => showReading(reading, texts)),
});

/** Shows a pair in the form that entries use. Returns null for a copy without a pair. */
export function pairView(row: ReplayPairRow | undefined, texts: Texts): PairView | null {
  return row === undefined ? null : showPair(row, texts);
}

/** Shows a second check in the same form as a first check; null if the second check has no result (yet). */
export function recheckView(row: ReplayRecheckRow | undefined, texts: Texts) {
  if (row === undefined || row.check === null) return null;
  const { passed, exitCode, tail } = row.check;
  if (texts === "brief" || row.runId === null) return { passed, exitCode, output: tail };
  const run = runs.get(texts.reading, texts.workspaceId, row.runId);
  return { passed, exitCode, output: run?.check?.output ?? tail };
}

/**
 * Returns the cost so far of a second judging, or of a pair's readings. Returns null if `row` is undefined or the model
 * has no price.
 */
export function costView(row: { readonly spent: ModelSpent } | undefined): Money | null {
  return boundMoney(row?.spent.cost ?? null);
}

/** Returns the results of both judgings of a copy, for the set's health. */
export function twoJudgings(first: ReplayVerdictRow | undefined, second: ReplayVerdictRow | undefined): TwoLooks {
  const findResult = (row: ReplayVerdictRow | undefined): LookResult | null => toResult(row?.verdict ?? null);
  return { first: findResult(first), second: second?.state === "asked" ? "pending" : findResult(second) };
}

/** Returns the results of both checks of a copy, for the set's health. */
export function twoChecks({ check }: Pick<ReplayCopyRow, "check">, recheck: ReplayRecheckRow | undefined): TwoLooks {
  const second = recheck?.state === "asked" ? "pending" : toResult(recheck?.check ?? null);
  return { first: toResult(check), second };
}

function toResult(look: { readonly passed: boolean } | null): LookResult | null {
  return look === null ? null : look.passed ? "passed" : "failed";
}

function readAll<Reason>(reasons: StoredReasons<Reason>, form: z.ZodType<Reason>, texts: Texts): Reason[] {
  return [...(texts === "brief" ? reasons.brief : readReasons(texts.reading, texts.workspaceId, reasons, form))];
}

const place = z.int().nullable();
const judgeReason: z.ZodType<JudgeReason> = z.object({
  text: z.string(),
  claim: place,
  citations: z.array(z.object({ kind: z.enum(["hunk", "step"]), hunk: place, step: place })),
});
const pairReason: z.ZodType<PairReason> = z.object({
  text: z.string(),
  ownHunks: z.array(z.int()),
  theirHunks: z.array(z.int()),
});
