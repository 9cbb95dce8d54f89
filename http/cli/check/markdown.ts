import { oneLine } from "./plain-text.js";

/**
 * Embeds untrusted text in Markdown. It becomes a code span, in which GitHub interprets nothing: no markup, HTML,
 * mention, issue reference or link. Do not use it in table cells: a `|` would end the cell. Source: CommonMark 0.31,
 * 6.1 Code spans.
 */
export function codeSpan(text: string, most: number): string {
  const content = oneLine(text, most);
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
