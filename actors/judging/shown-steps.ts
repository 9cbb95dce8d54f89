import { countOf, cutMiddle } from "./cut-text.js";
import type { FencedText } from "./fence.js";

/** A step of a run, as it is shown and cited. */
export interface JudgedStep {
  /** Within the run, from 0. */
  readonly index: number;
  readonly kind: string;
  readonly text: string;
  /** The tool that was called, or null. */
  readonly tool: string | null;
}

/** Most steps shown: whoever reads them needs no more of the last. */
export const MAX_JUDGED_STEPS = 100;
/** Longest text of one step, in characters: a longer one is cut in the middle. */
const MAX_STEP = 2_000;
/** Characters that a line of ours takes at most beside its mark, with the ends of itself and of the text after it. */
const LINE_WORDS = 64;

/** Shows the last steps, in at most so many characters, in the order in which they were; gives their indexes. */
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
  if (shown.length < steps.length) into.line(`left out: ${countOf(steps.length - shown.length, "earlier step")}`);
  for (const { index, text } of shown) into.line(`step ${index}`).text(text);
  return shown.map(({ index }) => index);
}

function describe({ kind, tool, text }: JudgedStep): string {
  const what = tool === null ? kind : `${kind} ${cutMiddle(tool, 100)}`;
  return `${what}: ${cutMiddle(text, MAX_STEP)}`;
}
