import type { Schema } from "../../client/entry.js";
import type { Terminal } from "../command/terminal.js";
import { toMoney, toPercent, toPoints, toRange } from "./figures.js";

type SearchWarning = Schema<"SearchWarningOutput">;

/** Prints what makes the result of a search unreliable, and what to do about it. */
export function noteWarnings({ note, paint }: Terminal, warnings: readonly SearchWarning[]): void {
  for (const warning of warnings) note(`${paint("yellow", "warning:")} ${toText(warning)}`);
}

function toText(warning: SearchWarning): string {
  switch (warning.kind) {
    case "noise-unmeasured":
      return "the noise of the set is unknown: measure it with signalbox replay --candidate live --repeats 3 --ceiling <money>";
    case "noisy": {
      const { spread, minGain, neededRepeats, suggestedRepeats } = warning;
      const noise = `copies of the live config differ by ${toPoints(spread)} points, a gain counts from ${toPoints(minGain)}`;
      if (neededRepeats > suggestedRepeats) return `${noise}: no search of this set can see such a gain`;
      return `${noise}: give --repeats ${neededRepeats}`;
    }
    case "saturated":
      return `the live config succeeds on ${toPercent(warning.rate)} already: --objective cost finds cheaper configs`;
    case "judge-unstable":
      return `the judge agrees with itself on ${toPercent(warning.agreement)} of ${warning.compared} changes only`;
    case "flaky-checks":
      return `${warning.flaky} of ${warning.rechecked} checks changed their result when repeated`;
    case "no-headroom":
      return `even with the correct outcome, the live config does no better: ${toPoints(warning.gain)} points ${toRange(warning)}`;
    case "thin-budget":
      return `measuring the live config may cost ${toMoney(warning.expected)}, but gets ${toMoney(warning.allotted)}: raise --ceiling`;
    case "too-few-to-confirm":
      return `${warning.heldOutTasks} tasks are held out, ${warning.neededTasks} are needed to confirm a gain: add more tasks to the set`;
    case "judging-not-set-up":
      return "the service has no model that judges, so no copy has a score";
    case "other-currency":
      return "past runs were paid in another currency than the ceiling: each copy counts as a share of the ceiling";
  }
}
