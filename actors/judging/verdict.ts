import { numberAnswer, type ShownWork, toClaimName, toClaimsAnswer, yesNoAnswer } from "./judge-question.js";
import { PROMPT_VERSION } from "./prompt.js";
import { type AnsweredReason, type Citation, cutReasons, readCitations } from "./reason.js";
import { type Judge, type JudgeScale, passesScore, passesShare, toPassShare, toScale } from "./scales.js";

export interface JudgeReason {
  readonly text: string;
  /** The index of the claim, from 0; null if the judge has no claims. */
  readonly claim: number | null;
  readonly citations: readonly Citation[];
}

/** A judge's verdict on a change. */
export interface JudgeVerdict {
  readonly scale: JudgeScale;
  readonly passed: boolean;
  /** 0 or 1 on `yes-no`, 1 to 5 on `number`, the share of met claims on `claims`. */
  readonly score: number;
  /** Whether each claim is met; null if there are no claims. */
  readonly marks: readonly boolean[] | null;
  /** The claims at the time of judging; empty if there are none. */
  readonly claims: readonly string[];
  /** The share of claims that must be met; null if there are no claims. */
  readonly passShare: number | null;
  readonly reasons: readonly JudgeReason[];
  /** The model that judged, and the version of its prompt. */
  readonly model: string;
  readonly promptVersion: number;
  /** Whether the model saw only a part of the change. */
  readonly cut: boolean;
}

/**
 * Reads a model's answer to `judgeQuestion`. The verdict numbers the judge's claims and the change's hunks in their
 * original order, even if the model saw them in another order. Returns null if the answer does not match the judge's
 * schema.
 */
export function readVerdict(
  judge: Judge,
  shown: ShownWork,
  answer: { readonly value: unknown; readonly model: string },
): JudgeVerdict | null {
  const scored = readScore(judge, shown, answer.value);
  if (scored === null) return null;
  const { model } = answer;
  return {
    ...scored,
    reasons: cutReasons(scored.reasons),
    scale: toScale(judge),
    model,
    promptVersion: PROMPT_VERSION,
    cut: shown.isCut,
  };
}

type Scored = Pick<JudgeVerdict, "passed" | "score" | "marks" | "claims" | "passShare" | "reasons">;

function readScore(judge: Judge, shown: ShownWork, value: unknown): Scored | null {
  const scale = toScale(judge);
  if (scale === "claims") return readClaims(judge, shown, value);
  const ofRubric = { marks: null, claims: [], passShare: null };
  if (scale === "number") {
    const { data } = numberAnswer.safeParse(value);
    if (data === undefined) return null;
    const { score } = data;
    return { ...ofRubric, score, passed: passesScore(judge, score), reasons: toReasons(data.reasons, null, shown) };
  }
  const { data } = yesNoAnswer.safeParse(value);
  if (data === undefined) return null;
  const { passes: passed } = data;
  return { ...ofRubric, passed, score: passed ? 1 : 0, reasons: toReasons(data.reasons, null, shown) };
}

function readClaims(judge: Judge, shown: ShownWork, value: unknown): Scored | null {
  const { claims } = judge;
  const { data } = toClaimsAnswer(claims.length).safeParse(value);
  if (data === undefined) return null;
  const answers = claims.map((_, place) => data[toClaimName(shown.claims.indexOf(place))]);
  const marks = answers.map((answer) => answer?.met === true);
  const met = marks.filter((mark) => mark).length;
  return {
    marks,
    claims,
    passShare: toPassShare(judge),
    score: met / claims.length,
    passed: passesShare(judge, met, claims.length),
    reasons: answers.flatMap((answer, place) => toReasons(answer?.reasons ?? [], place, shown)),
  };
}

function toReasons(reasons: readonly AnsweredReason[], claim: number | null, shown: ShownWork): JudgeReason[] {
  return reasons.map(({ text, citations }) => ({ text, claim, citations: readCitations(citations, shown) }));
}
