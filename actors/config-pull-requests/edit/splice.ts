import { commentsIn, type SyntaxNode } from "./hcl-syntax.js";

/** A replacement for a part of a file. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Applies splices to a text. The splices must not overlap. Splices at the same offset keep their order. */
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

/** Returns a file's text with its comments replaced by spaces. */
export function withoutComments(text: string, root: SyntaxNode): string {
  return blanked(text, commentsIn(root));
}

/** Replaces parts of a text by spaces. The parts must not overlap. */
export function blanked(text: string, parts: readonly Pick<SyntaxNode, "start" | "end">[]): string {
  return spliced(
    text,
    parts.map(({ start, end }) => ({ start, end, text: text.slice(start, end).replace(/[^\r\n]/g, " ") })),
  );
}

/** Returns the newline of the line at an offset. For the last line, returns the newline of the first line. */
export function newlineAt(text: string, offset: number): string {
  const end = text.indexOf("\n", offset);
  const found = end < 0 ? text.indexOf("\n") : end;
  return text[found - 1] === "\r" ? "\r\n" : "\n";
}

export function lineStart(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}

/** Returns the indentation of the line at an offset. */
export function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(lineStart(text, offset), offset))?.[0] ?? "";
}

/** Whether only whitespace precedes an offset on its line. */
export function beginsLine(text: string, offset: number): boolean {
  return text.slice(lineStart(text, offset), offset).trim() === "";
}

export function isOneLine(text: string, { start, end }: Pick<SyntaxNode, "start" | "end">): boolean {
  return !text.slice(start, end).includes("\n");
}

/** The rest of a line after some node. */
export interface Rest {
  /** Offset of a comma, if only comments and blanks precede it; otherwise null. */
  readonly comma: number | null;
  /** Whether the rest of the line contains only blanks, comments and at most one comma. */
  readonly endsLine: boolean;
  /** Offset of the line's end or of the next token. After a multi-line comment, this is on the comment's last line. */
  readonly end: number;
}

export function restAfter(text: string, offset: number, comments: readonly SyntaxNode[]): Rest {
  let comma: number | null = null;
  let at = offset;
  for (;;) {
    const comment = comments.find(({ start }) => start === at);
    if (comment !== undefined) {
      // A line comment includes the `\r` of its line.
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
