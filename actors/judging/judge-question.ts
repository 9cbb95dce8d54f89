import { z } from "zod";
import type { ModelMessage } from "../outbound/models/model-request.js";
import { type CheckoutDiff, readChange } from "./change.js";
import { FencedText } from "./fence.js";
import { ANSWER_WANTED, criteria, toPrompt, trustRules } from "./prompt.js";
import { answeredReason, type ShownPlaces } from "./reason.js";
import { type Judge, type JudgeScale, toScale } from "./scales.js";
import { type JudgedStep, showSteps } from "./shown-steps.js";
import { type JudgedCheck, type JudgedTask, showChangeAs, showCheck, showGiven, showTask } from "./shown-work.js";

/** The part of a run's work that a judge sees. It does not include the run's config. */
export interface JudgedWork {
  /** The task, as the run received it; null for a run without a task. */
  readonly task: JudgedTask | null;
  /** The run's own change, relative to its start. */
  readonly change: readonly CheckoutDiff[];
  /** The earlier changes that the run started with. */
  readonly given: readonly CheckoutDiff[];
  /** The run's last steps, oldest first. Only the last `MAX_JUDGED_STEPS` are used. */
  readonly steps: readonly JudgedStep[];
  /** Null if the run has no result of a check. */
  readonly check: JudgedCheck | null;
}

export interface JudgingOptions {
  /** The random mark of the fenced text, new for each judging: 16 to 64 hex digits. */
  readonly mark: string;
  /** Whether this is a second judging, which shows files and claims in reverse order. */
  readonly isSecond: boolean;
}

/**
 * The parts of the work that the question shows. They are needed to read the answer. They are not stored, because equal
 * work and options always give equal parts.
 */
export interface ShownWork extends ShownPlaces {
  /** The indexes of the claims, in the order in which they were shown. */
  readonly claims: readonly number[];
  /** Whether anything of the change was left out. */
  readonly isCut: boolean;
}

/** A question to the model, for `askModel`. */
export interface JudgeQuestion {
  readonly messages: readonly ModelMessage[];
  /** The schema of the answer on the judge's scale. */
  readonly schema: z.ZodType;
  readonly shown: ShownWork;
}

/** Maximum characters of a judged change. Files beyond this limit are only named. */
export const MAX_JUDGED_CHANGE = 200_000;
const MAX_GIVEN = 50_000;
const MAX_STEPS = 40_000;

/**
 * Builds the question of whether a run's work passes. A judge with claims scores by the claims, whatever its `scale`;
 * the question also includes the judge's rubric. A score on the scale `number` need not be an integer.
 */
export function judgeQuestion(judge: Judge, work: JudgedWork, { mark, isSecond }: JudgingOptions): JudgeQuestion {
  const places = judge.claims.map((_, place) => place);
  const claims = isSecond ? places.reverse() : places;
  const text = new FencedText(mark);
  const { hunks, steps, isCut } = showWork(text, work, isSecond);
  const content = instructions(judge, mark, claims);
  return {
    messages: [
      { role: "system", content },
      { role: "user", content: text.toString() },
    ],
    schema: toAnswerSchema(judge),
    shown: { hunks, steps, claims, isCut },
  };
}

function showWork(text: FencedText, work: JudgedWork, isReversed: boolean): Omit<ShownWork, "claims"> {
  showTask(text, work.task);
  showGiven(text, work.given, { maxCharacters: MAX_GIVEN, isReversed });
  const showing = { maxCharacters: MAX_JUDGED_CHANGE, isReversed };
  const { hunks, isCut } = showChangeAs(text, "the change", readChange(work.change), showing);
  const steps = showSteps(text.line("last steps of the run"), work.steps, MAX_STEPS);
  showCheck(text, work.check);
  text.line("end");
  return { hunks, steps, isCut };
}

function instructions(judge: Judge, mark: string, claims: readonly number[]): string {
  const inOrder = claims.map((place) => judge.claims[place] ?? "");
  return toPrompt([
    "You judge the change that a programmer made for a task.",
    trustRules(mark),
    criteria(judge.rubric, inOrder),
    verdictWanted[toScale(judge)],
    [
      "Support each reason with citations: cite a hunk of the change or a step of the run by the number in our line above it.",
      "Cite only what is shown.",
      ANSWER_WANTED,
    ],
  ]);
}

const verdictWanted: Readonly<Record<JudgeScale, readonly string[]>> = {
  "yes-no": ["Give your reasons first.", "Then say in `passes` whether the change passes by the rubric."],
  number: ["Give your reasons first.", "Then give a `score` from 1 (worst) to 5 (best) by the rubric."],
  claims: [
    "Judge each claim by itself: `claim1` is the first, `claim2` the second, and so on.",
    "For each claim, give your reasons first.",
    "Then say in `met` whether the claim is true of the change.",
    "A claim that you cannot confirm is not met.",
  ],
};

const reasons = z.array(answeredReason).max(10);
export const yesNoAnswer = z.strictObject({ reasons, passes: z.boolean() });
export const numberAnswer = z.strictObject({ reasons, score: z.number().min(1).max(5) });
const claimAnswer = z.strictObject({ reasons: z.array(answeredReason).max(3), met: z.boolean() });

/** The schema of the answers to all claims. Claims are numbered in the order in which they were shown. */
export function toClaimsAnswer(count: number) {
  const names = Array.from({ length: count }, (_, at) => toClaimName(at));
  return z.strictObject(Object.fromEntries(names.map((name) => [name, claimAnswer])));
}

/**
 * Returns the name of a claim's member in the answer. `at` is the claim's index in the order in which the claims were
 * shown.
 */
export function toClaimName(at: number): string {
  return `claim${at + 1}`;
}

function toAnswerSchema(judge: Judge): z.ZodType {
  const scale = toScale(judge);
  if (scale === "claims") return toClaimsAnswer(judge.claims.length);
  return scale === "number" ? numberAnswer : yesNoAnswer;
}
