import { pathOfBoth, unquoted } from "./diff-path.js";

const FILE = "diff --git ";
const MOVES = ["rename from ", "rename to ", "copy to "] as const;

/**
 * Lists the paths that a diff (`git diff`) changes, each once, in the diff's order. A renamed file counts with both
 * paths. Content lines start with other characters than header lines, so file content is never read as a path.
 */
export function changedPaths(diff: string): readonly string[] {
  const paths = new Set<string>();
  for (let at = diff.startsWith(FILE) ? 0 : nextFile(diff, 0); at !== -1; ) {
    const next = nextFile(diff, at);
    for (const path of pathsOfFile(diff, at, next === -1 ? diff.length : next)) paths.add(path);
    at = next;
  }
  return [...paths];
}

/** Returns the start of the next file in the diff after `at`; -1 if there is none. */
function nextFile(diff: string, at: number): number {
  const found = diff.indexOf(`\n${FILE}`, at);
  return found === -1 ? -1 : found + 1;
}

/** Maximum number of header lines of a file to read, including the `diff --git` line. */
const MAX_HEADER_LINES = 10;

function pathsOfFile(diff: string, from: number, end: number): string[] {
  const [first = "", ...others] = headerLines(diff, from, end);
  const moved = others.flatMap((line) => {
    const move = MOVES.find((start) => line.startsWith(start));
    return move === undefined ? [] : [unquoted(line.slice(move.length))];
  });
  return moved.length > 0 ? moved : [pathOfBoth(first.slice(FILE.length))];
}

function headerLines(diff: string, from: number, end: number): string[] {
  const lines: string[] = [];
  for (let at = from; at < end && lines.length < MAX_HEADER_LINES; ) {
    const found = diff.indexOf("\n", at);
    const stop = found === -1 ? end : Math.min(found, end);
    lines.push(diff.slice(at, stop));
    at = stop + 1;
  }
  return lines;
}
