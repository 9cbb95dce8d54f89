import { lexer, walkTokens } from "marked";

/** A fenced code block of a Markdown page. */
export interface Block {
  /** The first word after the fence, such as `sh`; empty if there is none. */
  readonly language: string;
  readonly code: string;
  /** The headings of the sections that contain the block, from the page's title down. */
  readonly headings: readonly string[];
  /** The line number of the block's first line in the page, from 1. */
  readonly line: number;
  /** The name of the file to which a reader writes the block, from `title="name"`; null for none. */
  readonly title: string | null;
  /** The program that the block needs, from `needs=program`; null for none. */
  readonly needs: string | null;
  /** Whether the block is a program for another terminal, from `background`. */
  readonly isBackground: boolean;
}

/**
 * Returns the fenced code blocks of a page in order, including blocks in lists. Throws if a code block is indented
 * instead of fenced, because such a block has no language.
 */
export function readBlocks(page: string, name: string): readonly Block[] {
  const blocks: Block[] = [];
  const headings: string[] = [];
  let from = 0;
  walkTokens(lexer(page), (token) => {
    if (token.type === "heading") headings.splice((token.depth ?? 1) - 1, headings.length, token.text);
    if (token.type !== "code") return;
    if (token.codeBlockStyle === "indented") throw new Error(`${name} has an indented code block: ${token.text}`);
    const [language = "", ...words] = (token.lang ?? "").split(/\s+/);
    const info = words.join(" ");
    const first = token.text.split("\n")[0] ?? "";
    from = Math.max(page.indexOf(`\`\`\`${token.lang ?? ""}`, from), from);
    const line = page.slice(0, from).split("\n").length + 1;
    from += first.length + 3;
    blocks.push({
      language,
      code: token.text,
      headings: [...headings],
      line,
      title: /title="([^"]+)"/.exec(info)?.[1] ?? null,
      needs: /needs=(\S+)/.exec(info)?.[1] ?? null,
      isBackground: /\bbackground\b/.test(info),
    });
  });
  return blocks;
}
