/** The diff of one checkout of a run: `git diff --binary`; empty for no change. */
export interface CheckoutDiff {
  readonly repository: string;
  readonly diff: string;
}

/** A change as it is shown and cited: its files, with their hunks numbered from 1 over the whole change. */
export interface Change {
  readonly files: readonly ChangedFile[];
}

export interface ChangedFile {
  readonly repository: string;
  readonly path: string;
  /** `binary` files have no hunks, nor have those of which only the name or the mode changed. */
  readonly kind: "added" | "deleted" | "renamed" | "changed" | "binary";
  readonly hunks: readonly Hunk[];
  /** Lines over all hunks. */
  readonly added: number;
  readonly removed: number;
}

export interface Hunk {
  /** From 1, over the whole change. */
  readonly number: number;
  /** From `@@` on, as in the diff. */
  readonly text: string;
  readonly added: number;
  readonly removed: number;
}

/**
 * Reads the change of a run. Any text can be read: what is no diff is left out, and a hunk ends with its own count of
 * lines, so that no line of a file is taken for a header.
 */
export function readChange(checkouts: readonly CheckoutDiff[]): Change {
  let hunks = 0;
  const files = checkouts.flatMap(({ repository, diff }) =>
    new DiffReader(diff).read().map((file) => {
      const numbered = file.hunks.map((hunk) => ({ ...hunk, number: ++hunks }));
      const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
      return {
        ...{ repository, path: file.path, kind: file.kind, hunks: numbered },
        added: sum(numbered.map(({ added }) => added)),
        removed: sum(numbered.map(({ removed }) => removed)),
      };
    }),
  );
  return { files };
}

/** Whether nothing was changed. */
export function isEmptyChange({ files }: Change): boolean {
  return files.length === 0;
}

interface ReadFile {
  path: string;
  kind: ChangedFile["kind"];
  readonly hunks: Omit<Hunk, "number">[];
}

/** How a hunk begins: its two counts of lines, each 1 when left out. */
const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;
/** Longest part of a header line that is looked at, in characters. */
const HEADER_CHARACTERS = 10_000;

/** Reads one diff, line by line; texts are cut from it only for whole hunks and headers. */
class DiffReader {
  readonly #files: ReadFile[] = [];
  #at = 0;

  constructor(readonly diff: string) {}

  read(): readonly ReadFile[] {
    while (this.#at < this.diff.length) {
      const from = this.#at;
      const end = endOfLine(this.diff, from);
      this.#at = end + 1;
      const header = this.diff.slice(from, Math.min(end, from + HEADER_CHARACTERS));
      const counts = header.startsWith("@@ ") ? HUNK.exec(header) : null;
      if (counts === null) this.#readHeader(header);
      else this.#readHunk(from, Number(counts[1] ?? 1), Number(counts[2] ?? 1));
    }
    return this.#files;
  }

  #readHeader(line: string): void {
    const file = this.#files.at(-1);
    if (line.startsWith("diff --git ")) {
      this.#files.push({ path: pathOfBoth(line.slice("diff --git ".length)), kind: "changed", hunks: [] });
    } else if (line.startsWith("--- ") && (file === undefined || file.hunks.length > 0)) {
      this.#files.push({ path: pathOf(line.slice(4), "a/") ?? "", kind: "changed", hunks: [] });
    } else if (file !== undefined && file.hunks.length === 0) {
      readDetail(file, line);
    }
  }

  /** Reads a hunk whose first line is read: as many lines of the old and the new file as it says. */
  #readHunk(from: number, oldLines: number, newLines: number): void {
    const { diff } = this;
    let [at, old, fresh, added, removed] = [this.#at, oldLines, newLines, 0, 0];
    for (; at < diff.length; at = endOfLine(diff, at) + 1) {
      const sign = diff.charCodeAt(at);
      if (sign === NO_NEWLINE) continue;
      if (old <= 0 && fresh <= 0) break;
      if (sign !== ADDED && sign !== REMOVED && sign !== KEPT && sign !== EMPTY) break;
      if (sign === ADDED) added += 1;
      else old -= 1;
      if (sign === REMOVED) removed += 1;
      else fresh -= 1;
    }
    this.#at = at;
    // Without the end of its last line, which the last line of a diff may lack.
    const text = diff.slice(from, at > diff.length || diff.charCodeAt(at - 1) === EMPTY ? at - 1 : at);
    this.#files.at(-1)?.hunks.push({ text, added, removed });
  }
}

/** First characters of the lines of a hunk; an empty line is a kept one whose space was lost. */
const [KEPT, ADDED, REMOVED, NO_NEWLINE, EMPTY] = [0x20, 0x2b, 0x2d, 0x5c, 0x0a];

/** The end of the line that begins at `at`. */
function endOfLine(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end;
}

/** Takes a line between a file's first line and its first hunk. */
function readDetail(file: ReadFile, line: string): void {
  if (line.startsWith("+++ ")) file.path = pathOf(line.slice(4), "b/") ?? file.path;
  else if (line.startsWith("rename to ")) {
    file.path = unquoted(line.slice("rename to ".length));
    file.kind = "renamed";
  } else if (line.startsWith("new file mode ")) file.kind = "added";
  else if (line.startsWith("deleted file mode ")) file.kind = "deleted";
  else if (line.startsWith("GIT binary patch") || line.startsWith("Binary files ")) file.kind = "binary";
}

/** The path after `---` or `+++`; null for no file. Git ends a path with spaces with a tab. */
function pathOf(text: string, prefix: string): string | null {
  const path = unquoted(text.replace(/\t.*$/, ""));
  if (path === "/dev/null") return null;
  return path.startsWith(prefix) ? path.slice(prefix.length) : path;
}

/** The path after `diff --git`, which has it twice; a renamed file's is told again below. */
function pathOfBoth(text: string): string {
  const [quoted] = /^"(?:[^"\\]|\\.)*"/.exec(text) ?? [];
  if (quoted !== undefined) return unquoted(quoted).replace(/^a\//, "");
  return text.slice(0, (text.length - 1) / 2).replace(/^a\//, "");
}

/** A path as git writes it: in quotes, with escapes, when it has unusual bytes. */
function unquoted(text: string): string {
  if (!/^".*"$/.test(text)) return text;
  const inBytes = Buffer.from(text.slice(1, -1)).toString("latin1");
  const bytes = inBytes.replace(/\\([0-7]{3}|.)/g, (_, escaped: string) => {
    if (escaped.length === 3) return String.fromCharCode(Number.parseInt(escaped, 8));
    return { n: "\n", t: "\t", r: "\r", a: "\x07", b: "\b", f: "\f", v: "\v" }[escaped] ?? escaped;
  });
  return Buffer.from(bytes, "latin1").toString("utf8");
}
