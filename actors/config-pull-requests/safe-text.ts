import { cutText } from "../well-formed.js";
/**
 * What others wrote, for a text at the code host. There a text may notify people, close issues, link, skip checks or end
 * up in a commit message, so what does that is taken out, also where Markdown would hide it from a reader.
 */

/** Longest text of an agent that is shown, in characters. */
export const MAX_AGENT_CHARACTERS = 500;

/** Each is replaced in turn. */
const disarmed: readonly (readonly [RegExp, string])[] = [
  // Control and format characters, line ends among them.
  [/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu, " "],
  // Compatibility forms of the characters below.
  [/[\uFF20\uFE6B]/gu, "@"],
  [/[\uFF03\uFE5F]/gu, "#"],
  [/[^\s@]+@[^\s@]+\.[^\s@]+/gu, "(address)"],
  [/\b[a-z][a-z0-9+.-]*:\/\/\S*/giu, "(link)"],
  [/\b(?:mailto|xmpp|data|javascript):\S+/giu, "(link)"],
  [/\bwww\.\S*/giu, "(link)"],
  // Ids of the service, and commits.
  [/\b[a-z]+_[0-9a-hjkmnp-tv-z]{26}\b/giu, "(id)"],
  [/\b(?=[0-9a-f]*\d)[0-9a-f]{7,64}\b/giu, "(id)"],
  [/@/gu, "(at)"],
  [/#/gu, "no. "],
  // `GH-1`, `ABC-1`: issues of the code host and of trackers.
  [/(?<=\b(?:GH|gh|Gh|gH|[A-Z][A-Z0-9]+))-(?=\d)/gu, "\u2011"],
  // `[skip ci]`, and commands in brackets like it.
  [/\[/gu, "("],
  [/\]/gu, ")"],
  [/\bskip-checks\b/giu, "skip checks"],
];

/** A text of one line that notifies, closes, links and skips nothing, also as a commit message; cut to so many characters. */
export function disarm(text: string, characters = MAX_AGENT_CHARACTERS): string {
  // What is not shown is not looked at; what is replaced is at most twice as long.
  const whole = disarmed.reduce((of, [what, by]) => of.replace(what, by), text.slice(0, 8 * characters)).trim();
  return whole.length <= characters ? whole : `${cutText(whole, characters - 1)}…`;
}

/** A disarmed text for a line of Markdown, which shows it as it is. */
export function escapeMarkdown(text: string): string {
  return text
    .replace(/&/g, "&amp;")
    .replace(/</g, "&lt;")
    .replace(/>/g, "&gt;")
    .replace(/[\\`*_!|~$]/g, "\\$&");
}
