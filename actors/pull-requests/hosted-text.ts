import { withoutMentions } from "../outbound/code-host/without-mentions.js";
import { cutText } from "../well-formed.js";

/** Maximum length of a comment, a review or a pull request's text on GitHub, in characters. */
const MAX_CHARACTERS = 65_536;

/** Returns the hidden mark that identifies a text. */
export function toMark({ taskId, purpose }: { readonly taskId: string; readonly purpose: string }): string {
  return `<!-- signalbox:${taskId}:${purpose} -->`;
}

/**
 * Returns a comment or review together with its mark. Changes the text in these ways:
 *
 * - HTML comments are escaped, because people would not see them and they could contain another mark.
 * - Mentions notify nobody.
 * - Control characters are removed, except tabs and line breaks.
 */
export function toMarkedText(mark: string, text: string): string {
  const shown = text.replace(/[^\P{Cc}\t\n]|\p{Cs}/gu, "").replaceAll("<!--", "&lt;!--");
  return cutText(`${mark}\n${withoutMentions(shown)}`, MAX_CHARACTERS);
}

/**
 * Returns the text of a pull request, followed by the service's own last line. Mentions are changed so that they notify
 * nobody.
 */
export function toBody(text: string, last: string): string {
  return text === "" ? last : `${cutText(withoutMentions(text), MAX_CHARACTERS - last.length - 2)}\n\n${last}`;
}
