import { cutMiddle, toCount } from "./cut-text.js";
import type { FencedText } from "./fence.js";

/** A step of a run, in the form that judges see and cite. */
export interface JudgedStep {
  /** The step's index in the run, from 0. */
  readonly index: number;
  readonly kind: string;
  readonly text: string;
  /** The called tool; null if the step called no tool. */
  readonly tool: string | null;
}

/** Maximum number of steps to show. Only the last steps are shown, so callers need not load earlier ones. */
export const MAX_JUDGED_STEPS = 100;
/** Maximum text of one step, in characters. A longer text loses its middle. */
const MAX_STEP = 2_000;
/**
 * Maximum characters that one of our own lines adds, without the mark: its words, its line break, and the line break of
 * the text after this line.
 */
const LINE_WORDS = 64;

/** Shows the last steps in chronological order, within the character limit. Returns the indexes of the shown steps. */
export function showSteps(into: FencedText, steps: readonly JudgedStep[], maxCharacters: number): readonly number[] {
  const lineLength = into.mark.length + LINE_WORDS;
  let left = maxCharacters - lineLength;
  const shown: { readonly index: number; readonly text: string }[] = [];
  for (const step of steps.slice(-MAX_JUDGED_STEPS).reverse()) {
    const text = describe(step);
    left -= lineLength + text.length;
    if (left < 0) break;
    shown.unshift({ index: step.index, text });
  }
  if (shown.length < steps.length) into.line(`left out: ${toCount(steps.length - shown.length, "earlier step")}`);
  for (const { index, text } of shown) into.line(`step ${index}`).text(text);
  return shown.map(({ index }) => index);
}

function describe({ kind, tool, text }: JudgedStep): string {
  const what = tool === null ? kind : `${kind} ${cutMiddle(tool, 100)}`;
  return `${what}: ${cutMiddle(text, MAX_STEP)}`;
}
