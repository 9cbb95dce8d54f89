import { type Change, type CheckoutDiff, isEmptyChange, readChange } from "./change.js";
import { cutBegin, cutMiddle } from "./cut-text.js";
import type { FencedText } from "./fence.js";
import { MAX_CHECK_OUTPUT, MAX_DESCRIPTION, MAX_TITLE } from "./prompt.js";
import { type ShowingChange, type ShownChange, showChange } from "./shown-change.js";

/** The task, as the run received it. */
export interface JudgedTask {
  readonly title: string;
  readonly description: string;
}

/** The result of a station's check. */
export interface JudgedCheck {
  readonly passed: boolean;
  readonly exitCode: number | null;
  readonly output: string;
}

export function showTask(into: FencedText, task: JudgedTask | null): void {
  if (task === null) return;
  into.line("task title").text(cutMiddle(task.title, MAX_TITLE));
  into.line("task description").text(cutMiddle(task.description, MAX_DESCRIPTION));
}

/** Shows the check's result, with the end of its output unless `isBrief`. */
export function showCheck(into: FencedText, check: JudgedCheck | null, isBrief = false): void {
  if (check === null) return;
  into.line(`check: ${check.passed ? "passed" : "failed"}, exit code ${check.exitCode ?? "unknown"}`);
  if (!isBrief) into.text(cutBegin(check.output, MAX_CHECK_OUTPUT));
}

/** Shows a change under a heading, or states that nothing was changed. */
export function showChangeAs(into: FencedText, heading: string, change: Change, showing: ShowingChange): ShownChange {
  into.line(isEmptyChange(change) ? `${heading}: nothing was changed` : heading);
  return showChange(into, change, showing);
}

/** Shows the changes that a run started from. A judge may not cite these changes. */
export function showGiven(into: FencedText, given: readonly CheckoutDiff[], showing: ShowingChange): void {
  const change = readChange(given);
  if (isEmptyChange(change)) return;
  into.line("earlier changes that the run started from: do not judge them, and do not cite their hunks");
  showChange(into, change, showing);
}
