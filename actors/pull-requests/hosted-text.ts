import { withoutMentions } from "../outbound/without-mentions.js";
import { cutText } from "../well-formed.js";

/** Longest comment, review or text of a pull request that GitHub takes, in characters. */
const MAX_CHARACTERS = 65_536;

/** What a text is found by, which people do not see. */
export function toMark({ taskId, purpose }: { readonly taskId: string; readonly purpose: string }): string {
  return `<!-- signalbox:${taskId}:${purpose} -->`;
}

/**
 * A comment or review with its mark. The text opens no comment of HTML, which people would not see and which another one
 * could be found by, mentions nobody, and holds no control characters.
 */
export function toMarkedText(mark: string, text: string): string {
  const shown = text.replace(/[^\P{Cc}\t\n]|\p{Cs}/gu, "").replaceAll("<!--", "&lt;!--");
  return cutText(`${mark}\n${withoutMentions(shown)}`, MAX_CHARACTERS);
}

/** The text of a pull request, which mentions nobody, with a last line of the service's own. */
export function toBody(text: string, last: string): string {
  return text === "" ? last : `${cutText(withoutMentions(text), MAX_CHARACTERS - last.length - 2)}\n\n${last}`;
}
