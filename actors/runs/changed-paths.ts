import { pathOfBoth, unquoted } from "./diff-path.js";

const FILE = "diff --git ";
const MOVES = ["rename from ", "rename to ", "copy to "] as const;

/**
 * The paths that a diff (`git diff`) changes, each once, in its order; of a renamed file both. Lines of files begin with
 * another character than those of the diff itself, so that no content of a file is taken for a path.
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

/** Where the next file of the diff begins after `at`; -1 for none. */
function nextFile(diff: string, at: number): number {
  const found = diff.indexOf(`\n${FILE}`, at);
  return found === -1 ? -1 : found + 1;
}

/** Most lines between the first of a file and its content. */
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
