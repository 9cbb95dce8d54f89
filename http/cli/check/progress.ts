import type { CheckAnswer, CheckSide } from "./check-answer.js";
import { copiesText, moneyText } from "./figures.js";
import type { Outcome } from "./outcome.js";

/** Receives the progress of the checks. */
export interface Progress {
  started(outcome: Outcome): void;
  moved(before: Outcome, after: Outcome): void;
}

/** Minimum time between two progress lines of one check, in milliseconds. */
const BETWEEN_MS = 30_000;

/**
 * Returns a {@link Progress} that writes these lines:
 *
 * - when a check starts: its start and its warnings
 * - for each new warning: the warning
 * - while a check runs: its progress, or what it waits for, at most every {@link BETWEEN_MS} milliseconds and only if
 *   the text has changed
 */
export function writeProgress(say: (line: string) => void, nowMs: () => number): Progress {
  const last = new Map<string, { readonly ms: number; readonly text: string }>();
  return {
    started(outcome) {
      if (outcome.what !== "still-running" && outcome.what !== "checked") return;
      const { title, check } = outcome;
      for (const line of startLines(check)) say(`${title}: ${line}`);
      // If a check already waits when it starts, store no text. The next read then reports what the check waits for.
      last.set(title, { ms: nowMs(), text: check.waiting ? "" : progressText(check) });
    },
    moved(before, after) {
      if (before.what !== "still-running") return;
      for (const text of newWarnings(before.check, toCheck(after))) say(`${after.title}: warning: ${text}`);
      if (after.what !== "still-running") return;
      const reported = last.get(after.title);
      const text = progressText(after.check);
      if (reported !== undefined && (nowMs() - reported.ms < BETWEEN_MS || reported.text === text)) return;
      say(`${after.title}: ${text}`);
      last.set(after.title, { ms: nowMs(), text });
    },
  };
}

function toCheck(outcome: Outcome): CheckAnswer | null {
  return "check" in outcome ? outcome.check : null;
}

/** Returns the new warnings. Some warnings are known only after the replay of the live config. */
function newWarnings(before: CheckAnswer, after: CheckAnswer | null): readonly string[] {
  const known = new Set(before.warnings.map(({ text }) => text));
  return (after?.warnings ?? []).map(({ text }) => text).filter((text) => !known.has(text));
}

function startLines({ id, attempt, reused, tasks, repeats, threshold, warnings }: CheckAnswer): readonly string[] {
  const status = reused ? "the check that this change already had" : "started";
  const what = `${tasks} tasks, ${copiesText(repeats)} of each run, at most ${moneyText(threshold.ceiling)} a replay`;
  return [`${id} ${status} (attempt ${attempt}): ${what}`, ...warnings.map(({ text }) => `warning: ${text}`)];
}

/** What a check waits for, by the service's keyword. A later release may add keywords. */
const waited: Readonly<Record<string, string>> = {
  runner: "a runner: no suitable runner is connected and free",
  model: "the judge's model: it is not responding",
};

function progressText({ candidate, baseline, waiting }: CheckAnswer): string {
  if (waiting) return `waiting for ${waited[waiting.for] ?? waiting.for}, since ${waiting.since}`;
  return `checking: planned change ${sideText(candidate)}; live config ${sideText(baseline)}`;
}

function sideText({ state, scored, entries, spent }: CheckSide): string {
  return `${state ?? "not started"}, ${scored} of ${entries} copies scored, ${moneyText(spent)} spent`;
}
