import type { CheckAnswer, CheckSide, Regression } from "./check-answer.js";
import { copiesText, gainText, moneyText, resultsText, successText, verdictText } from "./figures.js";

import { type Outcome, toVerdict, toWorst, type Verdict } from "./outcome.js";
import { oneLine } from "./plain-text.js";
import { checkPath } from "./run-checks.js";

/** Maximum counts and text lengths for each check in the summary. A job summary may have 1 MiB. */
const MAX = { regressions: 20, reasons: 3, title: 200, why: 1_000, detail: 300, word: 100 };

/**
 * Maximum sizes of the summary, in bytes. Each station gets a section while the summary stays within `sections`.
 * Further stations get one line each while the summary stays within `page`. One last line counts the remaining
 * stations.
 */
const MAX_BYTES = { sections: 512 * 1024, page: 768 * 1024 };

const marks: Readonly<Record<Verdict, string>> = {
  failed: "❌",
  "could not be asked": "⚠️",
  undecided: "❔",
  passed: "✅",
  "nothing to replay": "➖",
};

/**
 * Writes the job summary in Markdown, for reviewers of the change. The summary has each station's verdict, the results
 * of both sides, and the regressions with their reasons. Untrusted text is in code spans. `url` is the service's base
 * address. {@link MAX_BYTES} limits the length.
 */
export function writeSummary(outcomes: readonly Outcome[], url: string): string {
  const worst = toWorst(outcomes);
  const parts = [`## ${marks[worst]} Replay check: ${worst}\n`];
  let bytes = 0;
  for (const [index, outcome] of outcomes.entries()) {
    const part = fit(bytes, toSection(outcome, url), MAX_BYTES.sections) ?? `- ${toHead(outcome)}\n`;
    if (fit(bytes, part, MAX_BYTES.page) === null) {
      parts.push(leftOutLine(outcomes.slice(index)));
      break;
    }
    bytes += Buffer.byteLength(part) + 1;
    parts.push(part);
  }
  if (outcomes.length === 0) parts.push("The plan changes no work station: there is nothing to replay.\n");
  return `${parts.join("\n")}\n`;
}

/**
 * Returns the part if the page stays within `max` bytes after the part is added; otherwise null. `bytes` is the size of
 * the page without the part.
 */
function fit(bytes: number, part: string, max: number): string | null {
  return bytes + Buffer.byteLength(part) > max ? null : part;
}

/** Counts the stations that were left out, by verdict. */
function leftOutLine(outcomes: readonly Outcome[]): string {
  const verdicts = outcomes.map(toVerdict);
  const counts = Object.entries(marks).flatMap(([verdict, mark]) => {
    const count = verdicts.filter((each) => each === verdict).length;
    return count === 0 ? [] : [`${mark} ${count} ${verdict}`];
  });
  return `- and ${outcomes.length} more: ${counts.join(", ")}\n`;
}

function toHead(outcome: Outcome): string {
  const verdict = toVerdict(outcome);
  return `${marks[verdict]} ${codeSpan(outcome.title, MAX.title)}: ${verdict}`;
}

function toSection(outcome: Outcome, url: string): string {
  const why = "why" in outcome ? [`${codeSpan(outcome.why, MAX.why)}\n`] : [];
  const check = "check" in outcome && outcome.check !== null ? checkLines(outcome.check, url) : [];
  return [`### ${toHead(outcome)}\n`, ...why, ...check].join("\n");
}

function checkLines(check: CheckAnswer, url: string): readonly string[] {
  const gain = gainText(check);
  return [
    `${capitalised(verdictText(check))}.\n`,
    "| | success (95 % interval) | tasks scored | copies: succeeded, scored, all | spent | replay |",
    "| --- | --- | --- | --- | --- | --- |",
    sideRow("planned change", check.candidate, check),
    sideRow("live config", check.baseline, check),
    "",
    ...(gain === null ? [] : [`- Gain (does not affect the verdict): ${gain}.`]),
    ...check.warnings.map(({ text }) => `- Warning: ${codeSpan(text, MAX.detail)}`),
    ...liveFieldLines(check),
    ...regressionLines(check),
    `- ${whereLine(check, url)}\n`,
  ];
}

function sideRow(name: string, side: CheckSide, { tasks, threshold }: CheckAnswer): string {
  const copies = `${side.succeeded}, ${side.scored}, ${side.entries}`;
  const spent = `${moneyText(side.spent)} of ${moneyText(threshold.ceiling)}`;
  const state = side.state?.replace(/[^a-z-]/g, "") ?? "not there";
  const cells = [name, successText(side), `${side.tasksScored} of ${tasks}`, copies, spent, state];
  return `| ${cells.map((cell) => cell.replaceAll("|", "")).join(" | ")} |`;
}

function liveFieldLines({ keptLive }: CheckAnswer): readonly string[] {
  if (keptLive.length === 0) return [];
  const names = keptLive.map((name) => codeSpan(name, MAX.word)).join(", ");
  return [`- Kept at the live values: ${names}. Planned changes to these were not replayed.`];
}

function regressionLines({ regressions }: CheckAnswer): readonly string[] {
  const left = regressions.length - MAX.regressions;
  const shown = regressions.slice(0, MAX.regressions).flatMap(regressionItem);
  if (regressions.length === 0) return [];
  return ["- Regressed:", ...shown, ...(left > 0 ? [`  - and ${left} more`] : [])];
}

function regressionItem({ taskId, title, candidate, baseline, reasons }: Regression): readonly string[] {
  const name = codeSpan(title ?? taskId, MAX.title);
  const both = `live ${resultsText(baseline)}, planned ${resultsText(candidate)}`;
  const shown = reasons.slice(0, MAX.reasons).map(({ code, detail }) => {
    const suffix = detail === null || detail === undefined || detail === "" ? "" : `: ${codeSpan(detail, MAX.detail)}`;
    return `    - ${codeSpan(code, MAX.word)}${suffix}`;
  });
  const left = reasons.length - MAX.reasons;
  return [
    `  - ${name} (${codeSpan(taskId, MAX.word)}): ${both}`,
    ...shown,
    ...(left > 0 ? [`    - and ${left} more`] : []),
  ];
}

function whereLine(check: CheckAnswer, url: string): string {
  const { id, attempt, repeats, reused, setName, replayUrl } = check;
  const link = replayUrl === null ? null : linkTo(replayUrl, "the replay");
  const over = setName === null || setName === undefined ? "" : ` over ${codeSpan(setName, MAX.word)}`;
  const words = [
    `Check ${codeSpan(id, MAX.word)}${over}, attempt ${attempt}, ${copiesText(repeats)} of each run`,
    ...(reused ? ["which this change already had"] : []),
    ...(link === null ? [] : [link]),
    `read it at ${codeSpan(`${url}${checkPath(check)}`, 500)}`,
  ];
  return `${words.join("; ")}.`;
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * Embeds untrusted text in Markdown as a code span. GitHub interprets nothing in a code span: no markup, HTML, mention,
 * issue reference or link. Do not use it in table cells: a `|` in the text would end the cell. Source: CommonMark 0.31,
 * 6.1 Code spans.
 */
export function codeSpan(text: string, max: number): string {
  const content = oneLine(text, max);
  if (content === "") return "` `";
  const runs = [...content.matchAll(/`+/g)].map(([run]) => run.length);
  const fence = "`".repeat(Math.max(0, ...runs) + 1);
  const space = content.startsWith("`") || content.endsWith("`") ? " " : "";
  return `${fence}${space}${content}${space}${fence}`;
}

/** Creates a link, or returns null if the address is not http or https. `words` must be trusted text. */
export function linkTo(address: string, words: string): string | null {
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) return null;
  const { href } = new URL(address);
  return `[${words}](<${href.replace(/[<>|`\\\s]/g, (character) => encodeURIComponent(character))}>)`;
}
