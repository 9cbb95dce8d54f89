import { commentsIn, type SyntaxNode } from "./hcl-syntax.js";

/** A text in the place of a part of a file. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The text with all splices, which do not overlap; those at one place in the order that they are given. */
export function spliced(text: string, splices: readonly Splice[]): string {
  let at = 0;
  const parts: string[] = [];
  for (const { start, end, text: put } of [...splices].sort((left, right) => left.start - right.start)) {
    if (start < at) throw new Error("splices overlap");
    parts.push(text.slice(at, start), put);
    at = end;
  }
  return parts.join("") + text.slice(at);
}

/** The text of a file with blanks in the place of its comments. */
export function withoutComments(text: string, root: SyntaxNode): string {
  return blanked(text, commentsIn(root));
}

/** A text with blanks in the place of parts that do not overlap. */
export function blanked(text: string, parts: readonly Pick<SyntaxNode, "start" | "end">[]): string {
  return spliced(
    text,
    parts.map(({ start, end }) => ({ start, end, text: text.slice(start, end).replace(/[^\r\n]/g, " ") })),
  );
}

/** How the line ends that an offset is on; as the first line does where it is the last. */
export function newlineAt(text: string, offset: number): string {
  const end = text.indexOf("\n", offset);
  const found = end < 0 ? text.indexOf("\n") : end;
  return text[found - 1] === "\r" ? "\r\n" : "\n";
}

export function lineStart(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}

/** What the line of an offset begins with. */
export function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(lineStart(text, offset), offset))?.[0] ?? "";
}

/** Whether nothing but white space stands before an offset on its line. */
export function beginsLine(text: string, offset: number): boolean {
  return text.slice(lineStart(text, offset), offset).trim() === "";
}

export function isOneLine(text: string, { start, end }: Pick<SyntaxNode, "start" | "end">): boolean {
  return !text.slice(start, end).includes("\n");
}

/** What follows something on its line. */
export interface Rest {
  /** Where a comma stands, before anything but comments; null for none. */
  readonly comma: number | null;
  /** Whether the line has nothing but that comma and comments. */
  readonly endsLine: boolean;
  /** Where the line ends, or the next thing begins; behind a comment of several lines on its last. */
  readonly end: number;
}

export function restAfter(text: string, offset: number, comments: readonly SyntaxNode[]): Rest {
  let comma: number | null = null;
  let at = offset;
  for (;;) {
    const comment = comments.find(({ start }) => start === at);
    if (comment !== undefined) {
      // A comment to the end of the line has the line's \r.
      at = text[comment.end - 1] === "\r" ? comment.end - 1 : comment.end;
    } else if (text[at] === " " || text[at] === "\t") at += 1;
    else if (text[at] === "," && comma === null) {
      comma = at;
      at += 1;
    } else {
      return { comma, endsLine: at >= text.length || /^\r?\n/.test(text.slice(at, at + 2)), end: at };
    }
  }
}
