import { findPath, pathOfBoth, unquoted } from "../runs/diff-path.js";

/** What a diff does to a file. Files that are `binary`, and files whose name or mode alone changed, have no hunks. */
export type FileKind = "added" | "deleted" | "renamed" | "changed" | "binary";

export interface ReadHunk {
  /** The hunk from `@@` on, as in the diff. */
  readonly text: string;
  readonly added: number;
  readonly removed: number;
}

/** A changed file, as its diff describes it. */
export interface ReadFile {
  path: string;
  kind: FileKind;
  readonly hunks: ReadHunk[];
  /** Whether the file was read only in part. */
  isCut: boolean;
}

/** The remaining reading limits of a change. The reader decrements these limits. */
export interface ReadingBudget {
  /** How many files without a `diff --git` line may still be read. */
  plainFiles: number;
  hunks: number;
}

/** A range of a diff that begins at the start of a line. */
export interface DiffPart {
  readonly diff: string;
  readonly from: number;
  readonly to: number;
}

/** The start of a hunk, with its two line counts. An omitted count is 1. */
const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;
/** Maximum number of characters of a header line to examine. */
const HEADER_CHARACTERS = 10_000;
/** Minimum length of a meaningful line before a hunk. */
const LEAST_HEADER = "--- ".length;

/**
 * Reads a part of a diff line by line. It copies text only for whole hunks and headers. It stops at the end of the
 * part, or when a limit is reached.
 */
export class DiffReader {
  readonly files: ReadFile[] = [];
  /** Whether a limit was reached before the end of the part. */
  isCut = false;
  readonly #diff: string;
  readonly #to: number;
  #at: number;

  constructor(
    { diff, from, to }: DiffPart,
    readonly budget: ReadingBudget,
  ) {
    this.#diff = diff;
    this.#at = from;
    this.#to = to;
  }

  /** The position at which reading stopped. */
  get at(): number {
    return this.#at;
  }

  /** Reads the part, up to its end or a limit. */
  read(): this {
    while (this.#at < this.#to && !this.isCut) {
      const from = this.#at;
      const end = this.#endOfLine(from);
      this.#at = end + 1;
      if (end - from < LEAST_HEADER || !HEADERS.has(this.#diff.charCodeAt(from))) continue;
      const header = this.#diff.slice(from, Math.min(end, from + HEADER_CHARACTERS));
      const counts = header.startsWith("@@ ") ? HUNK.exec(header) : null;
      if (counts === null) this.#readHeader(header);
      else this.#readHunk(from, Number(counts[1] ?? 1), Number(counts[2] ?? 1));
    }
    return this;
  }

  #readHeader(line: string): void {
    const file = this.files.at(-1);
    if (line.startsWith("diff --git ")) {
      this.#begin(pathOfBoth(line.slice("diff --git ".length)));
    } else if (line.startsWith("--- ") && (file === undefined || file.hunks.length > 0)) {
      this.#beginPlain(line);
    } else if (file !== undefined && file.hunks.length === 0) {
      readDetail(file, line);
    }
  }

  #beginPlain(line: string): void {
    if (this.budget.plainFiles === 0) {
      this.isCut = true;
      return;
    }
    this.budget.plainFiles -= 1;
    this.#begin(findPath(line.slice(4), "a/") ?? "");
  }

  #begin(path: string): void {
    this.files.push({ path, kind: "changed", hunks: [], isCut: false });
  }

  /** Reads a hunk after its header line: as many lines of the old and the new file as the header says. */
  #readHunk(from: number, oldLines: number, newLines: number): void {
    if (this.budget.hunks === 0) {
      this.isCut = true;
      return;
    }
    const diff = this.#diff;
    let [at, old, fresh, added, removed] = [this.#at, oldLines, newLines, 0, 0];
    for (; at < this.#to; at = this.#endOfLine(at) + 1) {
      const sign = diff.charCodeAt(at);
      if (sign === NO_NEWLINE) continue;
      if (old <= 0 && fresh <= 0) break;
      if (sign !== ADDED && sign !== REMOVED && sign !== CONTEXT && sign !== EMPTY) break;
      if (sign === ADDED) added += 1;
      else old -= 1;
      if (sign === REMOVED) removed += 1;
      else fresh -= 1;
    }
    this.#at = at;
    // Exclude the line break after the hunk's last line. At the end of a diff, this line break may be missing.
    const text = diff.slice(from, at > this.#to || diff.charCodeAt(at - 1) === EMPTY ? at - 1 : at);
    this.files.at(-1)?.hunks.push({ text, added, removed });
    this.budget.hunks -= 1;
  }

  #endOfLine(at: number): number {
    let end = at;
    while (end < this.#to && this.#diff.charCodeAt(end) !== EMPTY) end += 1;
    return end;
  }
}

/** First characters of hunk lines. An empty line is an unchanged line that lost its space. */
const [CONTEXT, ADDED, REMOVED, NO_NEWLINE, EMPTY] = [0x20, 0x2b, 0x2d, 0x5c, 0x0a];

/** First characters of the meaningful lines outside hunks. */
const HEADERS: ReadonlySet<number> = new Set([..."d-+rnGB@"].map((first) => first.charCodeAt(0)));

/** Reads a line between a file's first line and its first hunk. */
function readDetail(file: ReadFile, line: string): void {
  if (line.startsWith("+++ ")) file.path = findPath(line.slice(4), "b/") ?? file.path;
  else if (line.startsWith("rename to ")) {
    file.path = unquoted(line.slice("rename to ".length));
    file.kind = "renamed";
  } else if (line.startsWith("new file mode ")) file.kind = "added";
  else if (line.startsWith("deleted file mode ")) file.kind = "deleted";
  else if (line.startsWith("GIT binary patch") || line.startsWith("Binary files ")) file.kind = "binary";
}
