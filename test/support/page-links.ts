import { lexer, walkTokens } from "marked";

/** A Markdown page's relative links, and the anchors that links to it can name. */
export interface PageLinks {
  /** The relative targets of the page's links and pictures, as written: `path`, `path#anchor` or `#anchor`. */
  readonly links: readonly string[];
  /** The anchors of the page's headings, as GitHub makes them. */
  readonly anchors: ReadonlySet<string>;
}

/** Reads the links and headings of a page. */
export function readLinks(page: string): PageLinks {
  const links: string[] = [];
  const anchors = new Set<string>();
  walkTokens(lexer(page), ({ type, href, text }) => {
    if (type === "heading") anchors.add(toFreeAnchor(anchors, text));
    const isRelative = href !== undefined && !/^[a-z][a-z+.-]*:/i.test(href);
    if ((type === "link" || type === "image") && isRelative) links.push(href);
  });
  return { links, anchors };
}

/**
 * Returns the anchor of a heading that is not in `taken`. The second heading with the same text gets the suffix `-1`,
 * the third `-2`.
 */
function toFreeAnchor(taken: ReadonlySet<string>, heading: string): string {
  const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
  const anchor = plain.replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, "").replace(/\s/g, "-");
  for (let count = 0; ; count += 1) {
    const candidate = count === 0 ? anchor : `${anchor}-${count}`;
    if (!taken.has(candidate)) return candidate;
  }
}
