import { writeJson } from "../exact-json.js";
import type { Gain } from "../statistics/gain.js";
import { cutText } from "../well-formed.js";
import type { ConfigPullRequestRow } from "./config-pull-request.js";
import type { ComparedFigures, Evidence, PickedConfig, ShownChange, SideFigures } from "./picked-config.js";

/**
 * The texts of a config pull request: the changes, the measured results, and links to the service. Everyone who can
 * read the repository can read these texts. Therefore, config differences appear only as the API shows them, and texts
 * of agents are changed by {@link disarm}.
 */

/** The data that the texts contain. */
export interface TextOf {
  readonly row: Pick<ConfigPullRequestRow, "candidateName" | "stationKey" | "teamId" | "searchId">;
  readonly lineKey: string;
  readonly picked: Pick<PickedConfig, "changes" | "hypothesis" | "evidence">;
  /** The base URL of the service. */
  readonly baseUrl: string;
}

/** Maximum length of a value in the table of changes, in characters. */
const MAX_VALUE_CHARACTERS = 200;
const MAX_NAME_CHARACTERS = 100;
/** Maximum length of the table of changes, in characters. GitHub accepts 65,536 for the whole text. */
const MAX_TABLE_CHARACTERS = 40_000;

/** The title of the pull request. */
export function toTitle({ row, lineKey }: Pick<TextOf, "row" | "lineKey">): string {
  const name = disarm(row.candidateName, MAX_NAME_CHARACTERS);
  return disarm(`Config of station ${row.stationKey} of line ${lineKey}: ${name}`, 250);
}

/** The message of the commit. */
export function toCommitMessage(of: Pick<TextOf, "row" | "lineKey">): string {
  return `${toTitle(of)}\n\nThe config of a candidate that a search found and a user picked.\n`;
}

/** The body of the pull request, in Markdown. */
export function toBody(of: TextOf): string {
  const { row, lineKey, picked } = of;
  const { evidence, hypothesis } = picked;
  const name = inline(row.candidateName, MAX_NAME_CHARACTERS);
  const hypothesisText = hypothesis === null ? "" : disarm(hypothesis);
  return [
    `Changes station \`${row.stationKey}\` of line \`${lineKey}\` to what candidate ${name} of a search holds. A person picked it.`,
    hypothesisText === "" ? "" : `The search agent's hypothesis: ${escapeMarkdown(hypothesisText)}`,
    `### What changes\n\n${changeTable(picked.changes)}`,
    `### Why it is believed\n\n${figureTable(evidence)}`,
    gainList(evidence),
    `### What got worse\n\n${listWorse(evidence)
      .map((line) => `- ${line}`)
      .join("\n")}`,
    linkList(of),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function inline(text: string, characters: number): string {
  return escapeMarkdown(disarm(text, characters));
}

function changeTable(changes: readonly ShownChange[]): string {
  const rows = ["| part | | was | now |", "| --- | --- | --- | --- |"];
  let left = MAX_TABLE_CHARACTERS;
  for (const [index, change] of changes.entries()) {
    const row = toRow(change);
    left -= row.length;
    if (left < 0) return [...rows, `| ${changes.length - index} more | | | |`].join("\n");
    rows.push(row);
  }
  return rows.join("\n");
}

function toRow({ part, name, kind, was, now }: ShownChange): string {
  const isHidden = was === null && now === null;
  const [before, after] = isHidden
    ? [hidden(kind !== "added"), hidden(kind !== "removed")]
    : [toValue(was), toValue(now)];
  return `| ${part}${name === null ? "" : ` ${inline(name, MAX_NAME_CHARACTERS)}`} | ${kind} | ${before} | ${after} |`;
}

function hidden(isThere: boolean): string {
  return isThere ? "not shown here" : "none";
}

function toValue(value: unknown): string {
  if (value === null || value === undefined) return "none";
  return inline(typeof value === "string" ? value : writeJson(value), MAX_VALUE_CHARACTERS);
}

function figureTable({ searched, heldOut }: Evidence): string {
  return [
    "| | live config | candidate |",
    "| --- | --- | --- |",
    ...figureRows("tasks it was selected on", searched),
    ...figureRows("held-out tasks", heldOut),
  ].join("\n");
}

function figureRows(tasks: string, figures: ComparedFigures | null): readonly string[] {
  if (figures === null) return [`| success, ${tasks} | not known yet | not known yet |`];
  const { live, candidate } = figures;
  return [
    `| success, ${tasks} | ${showSuccess(live)} | ${showSuccess(candidate)} |`,
    ...(live.cost === null && candidate.cost === null
      ? []
      : [`| cost of a run, ${tasks} | ${showCost(live)} | ${showCost(candidate)} |`]),
  ];
}

function showSuccess({ success, scored, tasks }: SideFigures): string {
  if (success === null) return "not known";
  return `${percent(success.rate)} (${percent(success.low)} to ${percent(success.high)}), n = ${tasks} tasks, ${scored} runs`;
}

function showCost({ cost, scored, tasks }: SideFigures): string {
  if (cost === null) return "not known";
  const { amount, low, high, currency } = cost;
  return `${toAmount(amount)} (${toAmount(low)} to ${toAmount(high)}) ${currency}, n = ${tasks} tasks, ${scored} runs`;
}

const CHEAPER = "A run on held-out tasks costs significantly less";
/** Also used if a run costs more, because the service does not test for that. */
const NOT_CHEAPER = "A run on held-out tasks does not cost significantly less";

function gainList({ searched, heldOut, heldOutCost, onlyOnSeenTasks }: Evidence): string {
  const heldOutGain =
    heldOut === null || heldOut.gain === null
      ? "Gain on held-out tasks: not known; nothing confirms the gain."
      : `**Gain on held-out tasks: ${showGain(heldOut.gain)}.** They were not used for selection.`;
  const searchedGain =
    searched === null || searched.gain === null
      ? "Gain on the tasks it was selected on: not known."
      : `Gain on the tasks it was selected on: ${showGain(searched.gain)}. The best of many useless candidates would also show a gain here.`;
  const seen = {
    marked: ["**The gain appears only on tasks that the candidate was selected on.**"],
    "too-few-held-out": ["**Too few tasks were held out to decide whether the gain appears on other tasks.**"],
  };
  const cost =
    heldOutCost === null ? [] : [`${heldOutCost.cheaper ? CHEAPER : NOT_CHEAPER}, n = ${heldOutCost.tasks} tasks.`];
  const lines = [heldOutGain, searchedGain, ...cost, ...(onlyOnSeenTasks === null ? [] : seen[onlyOnSeenTasks])];
  const intervals = "Intervals are 95 % confidence intervals over tasks. n counts only scored tasks and runs.";
  return `${lines.map((line) => `- ${line}`).join("\n")}\n\n${intervals}`;
}

function showGain({ gain, low, high, verdict, minGain, tasks, few }: Gain): string {
  const shown = `${points(gain)} (${points(low)} to ${points(high)}), n = ${tasks} tasks`;
  const verdicts = { better: "better", worse: "worse", "within-noise": "within noise" };
  return few
    ? `${shown}: fewer than 5 tasks, too few to decide`
    : `${shown}: ${verdicts[verdict]}, where ${points(minGain)} count as real`;
}

/**
 * Returns a sentence for each result that is worse than under the live config, or says that nothing got worse. Also
 * says if the result on held-out tasks is unknown.
 */
function listWorse({ searched, heldOut }: Evidence): readonly string[] {
  const found = [
    ...toWorse("tasks it was selected on", searched),
    ...toWorse("held-out tasks", heldOut),
    ...(heldOut === null ? ["The result on held-out tasks is not known yet."] : []),
  ];
  return found.length === 0 ? ["Nothing that was measured."] : found;
}

function toWorse(tasks: string, figures: ComparedFigures | null): readonly string[] {
  if (figures === null) return [];
  const { live, candidate, worse, judgedWorse } = figures;
  const [was, now] = [live.cost, candidate.cost];
  const isDearer = was !== null && now !== null && was.currency === now.currency && now.amount > was.amount;
  const isRarer = live.success !== null && candidate.success !== null && candidate.success.rate < live.success.rate;
  return [
    ...(isRarer ? [`Success on ${tasks}: ${showSuccess(live)}, now ${showSuccess(candidate)}.`] : []),
    ...(isDearer ? [`A run on ${tasks} costs more: ${showCost(live)}, now ${showCost(candidate)}.`] : []),
    ...(worse !== null && worse.tasks > 0
      ? [`${worse.tasks} of ${worse.of} ${tasks} succeeded less often than under the live config.`]
      : []),
    ...(judgedWorse !== null && judgedWorse.tasks > 0
      ? [`The judge found the work on ${judgedWorse.tasks} of ${judgedWorse.of} ${tasks} worse, side by side.`]
      : []),
  ];
}

function linkList({ row: { teamId, searchId }, picked, baseUrl }: TextOf): string {
  const team = `${baseUrl}/api/teams/${encodeURIComponent(teamId)}`;
  const { live, searched, heldOut } = picked.evidence.replays;
  const replay = (what: string, id: string | null) =>
    id === null ? [] : [`- [${what}](${team}/replays/${encodeURIComponent(id)})`];
  return [
    "### Source\n",
    `- [The search](${team}/searches/${encodeURIComponent(searchId)})`,
    ...replay("The replay of the live config", live),
    ...replay("The candidate's replay on the tasks it was selected on", searched),
    ...replay("The candidate's replay on held-out tasks", heldOut),
    "\nThese links require sign-in.",
  ].join("\n");
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

function points(share: number): string {
  return `${(100 * share).toFixed(1)} points`;
}

/** Formats an amount with 2 to 4 decimal places. */
function toAmount(amount: number): string {
  return amount.toFixed(4).replace(/(\.\d\d\d*?)0+$/, "$1");
}

/** Maximum length of an agent's text to show, in characters. */
const MAX_AGENT_CHARACTERS = 500;

/**
 * Patterns and their replacements, in the order in which {@link disarm} applies them. At the code host, a text can
 * notify people, close issues, create links or skip checks. This also applies to commit messages, and to text that
 * Markdown hides.
 */
const disarmed: readonly (readonly [RegExp, string])[] = [
  // Control and format characters, including line breaks.
  [/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu, " "],
  // Compatibility forms of `@` and `#`.
  [/[\uFF20\uFE6B]/gu, "@"],
  [/[\uFF03\uFE5F]/gu, "#"],
  [/[^\s@]+@[^\s@]+\.[^\s@]+/gu, "(address)"],
  [/\b[a-z][a-z0-9+.-]*:\/\/\S*/giu, "(link)"],
  [/\b(?:mailto|xmpp|data|javascript):\S+/giu, "(link)"],
  [/\bwww\.\S*/giu, "(link)"],
  // Ids of the service, and commit hashes.
  [/\b[a-z]+_[0-9a-hjkmnp-tv-z]{26}\b/giu, "(id)"],
  [/\b(?=[0-9a-f]*\d)[0-9a-f]{7,64}\b/giu, "(id)"],
  [/@/gu, "(at)"],
  [/#/gu, "no. "],
  // `GH-1`, `ABC-1`: issues of the code host and of trackers.
  [/(?<=\b(?:GH|gh|Gh|gH|[A-Z][A-Z0-9]+))-(?=\d)/gu, "\u2011"],
  // `[skip ci]` and similar commands in brackets.
  [/\[/gu, "("],
  [/\]/gu, ")"],
  [/\bskip-checks\b/giu, "skip checks"],
];

/**
 * Converts a text to one line that cannot notify people, close issues, create links or skip checks, and cuts it to a
 * number of characters.
 */
export function disarm(text: string, characters = MAX_AGENT_CHARACTERS): string {
  // Process only a prefix. The rest would be cut anyway, unless the replacements shorten the prefix to less than an
  // eighth.
  const whole = disarmed.reduce((of, [what, by]) => of.replace(what, by), text.slice(0, 8 * characters)).trim();
  return whole.length <= characters ? whole : `${cutText(whole, characters - 1)}…`;
}

/** Escapes a disarmed text so that a line of Markdown shows the text unchanged. */
export function escapeMarkdown(text: string): string {
  return text
    .replace(/&/g, "&amp;")
    .replace(/</g, "&lt;")
    .replace(/>/g, "&gt;")
    .replace(/[\\`*_!|~$]/g, "\\$&");
}
