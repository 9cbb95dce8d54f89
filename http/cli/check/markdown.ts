import { oneLine } from "./plain-text.js";

/**
 * Text of others within Markdown. It stands in a code span, in which GitHub reads nothing: no markup, no HTML, no mention,
 * no reference to an issue, no address. Not for cells of a table, which a `|` would end.
 * Source: CommonMark 0.31, 6.1 Code spans.
 */
export function codeSpan(text: string, most: number): string {
  const content = oneLine(text, most);
  if (content === "") return "` `";
  const runs = [...content.matchAll(/`+/g)].map(([run]) => run.length);
  const fence = "`".repeat(Math.max(0, ...runs) + 1);
  const space = content.startsWith("`") || content.endsWith("`") ? " " : "";
  return `${fence}${space}${content}${space}${fence}`;
}

/** A link, or null for what is no address of the web. `words` are ours. */
export function linkTo(address: string, words: string): string | null {
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) return null;
  const { href } = new URL(address);
  return `[${words}](<${href.replace(/[<>|`\\\s]/g, (character) => encodeURIComponent(character))}>)`;
}
