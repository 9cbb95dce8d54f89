import type { CheckAnswer, CheckSide } from "./check-answer.js";
import { copiesText, moneyText } from "./figures.js";
import type { Outcome } from "./outcome.js";

/** Is told how the checks come along. */
export interface Progress {
  started(outcome: Outcome): void;
  moved(before: Outcome, after: Outcome): void;
}

/** Lines of progress of one check that follow each other closely are left out, in milliseconds. */
const BETWEEN_MS = 30_000;

/** Writes a line for each check that starts, that came along since its last line, and for each new warning. */
export function writeProgress(say: (line: string) => void, nowMs: () => number): Progress {
  const lastMs = new Map<string, number>();
  return {
    started(outcome) {
      if (outcome.what === "still-running" || outcome.what === "checked") {
        for (const line of startLines(outcome.check)) say(`${outcome.title}: ${line}`);
      }
      lastMs.set(outcome.title, nowMs());
    },
    moved(before, after) {
      if (before.what !== "still-running") return;
      for (const text of newWarnings(before.check, checkOf(after))) say(`${after.title}: warning: ${text}`);
      if (after.what !== "still-running") return;
      if (nowMs() - (lastMs.get(after.title) ?? 0) < BETWEEN_MS) return;
      const [was, now] = [before.check, after.check].map(progressText);
      if (now === undefined || was === now) return;
      say(`${after.title}: ${now}`);
      lastMs.set(after.title, nowMs());
    },
  };
}

function checkOf(outcome: Outcome): CheckAnswer | null {
  return "check" in outcome ? outcome.check : null;
}

/** What the service did not warn of before: some of it is known only once the live config was replayed. */
function newWarnings(before: CheckAnswer, after: CheckAnswer | null): readonly string[] {
  const known = new Set(before.warnings.map(({ text }) => text));
  return (after?.warnings ?? []).map(({ text }) => text).filter((text) => !known.has(text));
}

function startLines({ id, attempt, reused, tasks, repeats, threshold, warnings }: CheckAnswer): readonly string[] {
  const begun = reused ? "the check that this change already had" : "started";
  const what = `${tasks} tasks, ${copiesText(repeats)} of each run, at most ${moneyText(threshold.ceiling)} a replay`;
  return [`${id} ${begun} (attempt ${attempt}): ${what}`, ...warnings.map(({ text }) => `warning: ${text}`)];
}

function progressText({ candidate, baseline }: CheckAnswer): string {
  return `checking: planned change ${sideText(candidate)}; live config ${sideText(baseline)}`;
}

function sideText({ state, scored, entries, spent }: CheckSide): string {
  return `${state ?? "not started"}, ${scored} of ${entries} copies scored, ${moneyText(spent)} spent`;
}
