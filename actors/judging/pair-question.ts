import { z } from "zod";
import type { ModelMessage } from "../outbound/models/model-request.js";
import type { PairOutcome } from "../statistics/comparison.js";
import { type CheckoutDiff, readChange } from "./change.js";
import { FencedText } from "./fence.js";
import { ANSWER_WANTED, criteria, toPrompt, trustRules } from "./prompt.js";
import { citedNumber, cutReasons, readHunks } from "./reason.js";
import type { Judge } from "./scales.js";
import { type JudgedCheck, type JudgedTask, showChangeAs, showCheck, showTask } from "./shown-work.js";

/** The part of one side's work that a judge sees. */
export interface PairedWork {
  readonly change: readonly CheckoutDiff[];
  readonly check: JudgedCheck | null;
}

/** Two changes for the same task: `own` is the copy's, `theirs` is its opponent's. */
export interface Pairing {
  readonly judge: Pick<Judge, "rubric" | "claims">;
  readonly task: JudgedTask | null;
  readonly own: PairedWork;
  readonly theirs: PairedWork;
}

export interface ReadingOptions {
  /** The random mark of the fenced text, new for each reading: 16 to 64 hex digits. */
  readonly mark: string;
  readonly ownShownFirst: boolean;
}

/** The shown parts of both changes: for each shown hunk, its number in its change. */
export interface ShownPair {
  readonly ownShownFirst: boolean;
  readonly ownHunks: readonly number[];
  readonly theirHunks: readonly number[];
}

/** A question to the model, for `askModel`. */
export interface PairQuestion {
  readonly messages: readonly ModelMessage[];
  readonly schema: typeof pairAnswer;
  readonly shown: ShownPair;
}

/** One reading of a pair. The outcome is from the copy's side. */
export interface PairReading {
  readonly ownShownFirst: boolean;
  readonly outcome: PairOutcome;
  readonly reasons: readonly PairReason[];
}

export interface PairReason {
  /** The reason as the model wrote it: "first" and "second" refer to the order in this reading. */
  readonly text: string;
  /** The numbers of the cited hunks in each change. */
  readonly ownHunks: readonly number[];
  readonly theirHunks: readonly number[];
}

/** Maximum characters of each of the two changes. Together they may be as long as a change that is judged alone. */
export const MAX_PAIRED_CHANGE = 100_000;

const hunkNumbers = z.array(citedNumber).max(5);

export const pairAnswer = z.strictObject({
  reasons: z.array(z.strictObject({ text: z.string(), firstHunks: hunkNumbers, secondHunks: hunkNumbers })).max(10),
  better: z.enum(["first", "second", "tie"]),
});

/**
 * Builds the question which of two changes is better. The caller asks the same model twice about each pair, once in
 * each order of the changes.
 */
export function pairQuestion(pairing: Pairing, { mark, ownShownFirst }: ReadingOptions): PairQuestion {
  const { judge, task, own, theirs } = pairing;
  const text = new FencedText(mark);
  showTask(text, task);
  const first = showSide(text, "first", ownShownFirst ? own : theirs);
  const second = showSide(text, "second", ownShownFirst ? theirs : own);
  text.line("end");
  return {
    messages: [
      { role: "system", content: instructions(judge, mark) },
      { role: "user", content: text.toString() },
    ],
    schema: pairAnswer,
    shown: {
      ownShownFirst,
      ownHunks: ownShownFirst ? first : second,
      theirHunks: ownShownFirst ? second : first,
    },
  };
}

function showSide(text: FencedText, name: "first" | "second", { change, check }: PairedWork): readonly number[] {
  const showing = { maxCharacters: MAX_PAIRED_CHANGE, isReversed: false };
  const { hunks } = showChangeAs(text, `the ${name} change`, readChange(change), showing);
  showCheck(text, check, true);
  return hunks;
}

function instructions({ rubric, claims }: Pairing["judge"], mark: string): string {
  return toPrompt([
    ["Two programmers each made a change for the same task.", "You decide which change is better."],
    trustRules(mark),
    criteria(rubric, claims),
    [
      "Give your reasons first.",
      "Support each reason with the numbers of hunks: `firstHunks` of the first change, `secondHunks` of the second.",
      "Cite only what is shown.",
      "Then say in `better` which change is better by these criteria.",
      "Say `tie` when neither is clearly better.",
      "The order in which the changes are shown means nothing.",
      ANSWER_WANTED,
    ],
  ]);
}

/** Reads a model's answer to {@link pairQuestion}. Returns null if the answer does not match the schema. */
export function readPairing(shown: ShownPair, value: unknown): PairReading | null {
  const { data } = pairAnswer.safeParse(value);
  if (data === undefined) return null;
  const { ownShownFirst, ownHunks, theirHunks } = shown;
  const reasons = data.reasons.map(({ text, firstHunks, secondHunks }) => ({
    text,
    ownHunks: readHunks(ownShownFirst ? firstHunks : secondHunks, ownHunks),
    theirHunks: readHunks(ownShownFirst ? secondHunks : firstHunks, theirHunks),
  }));
  return { ownShownFirst, outcome: toOutcome(data.better, ownShownFirst), reasons: cutReasons(reasons) };
}

function toOutcome(better: z.output<typeof pairAnswer>["better"], ownShownFirst: boolean): PairOutcome {
  if (better === "tie") return "tie";
  return (better === "first") === ownShownFirst ? "win" : "loss";
}
