import { posix } from "node:path";

/** Stands for any text in a pattern: no path has it. */
const ANY = "\0";

/** What an expression says of a path: its texts in order, null for one that is not known. */
export type PathParts = readonly (string | null)[];

/** Where a path starts: in a known folder, `.` for the root of the repository, or null for one that is not known. */
export type PathBase = string | null;

/**
 * The paths that an expression may give, normalised as Terraform does it: by the text alone, before links are followed.
 * A part that is not known may be any text. It may lead above where the path starts, but not out of a folder that is
 * written before it.
 */
export interface PathPattern {
  /** Parts between slashes, from the root of the repository. One that is {@link ANY} alone stands for any number of them. */
  readonly steps: readonly string[];
  /** How many folders above the repository's root the path starts. */
  readonly above: number;
  /** Whether it leads up from a folder that is not known, so that it may start above the root. */
  readonly mayBeAbove: boolean;
}

/** The pattern of a path; `file("${path.module}/a")` has the base of its module and the part `/a`. */
export function toPattern(base: PathBase, parts: PathParts): PathPattern {
  const begin = base === null ? [ANY] : base.split("/").filter((step) => step !== ".");
  // What follows a folder without a slash belongs to its name, if it is known.
  const glue = base === null || parts[0] === null ? "/" : "";
  const whole = `${base ?? ANY}${glue}${parts.map((part) => part ?? ANY).join("")}`;
  let steps: string[] = [];
  let above = 0;
  let mayBeAbove = false;
  for (const step of whole.replace(/\0+/g, ANY).split("/")) {
    if (step === "" || step === ".") continue;
    const last = steps.at(-1);
    if (step === "..") {
      if (last === undefined) above += 1;
      else if (!last.includes(ANY)) steps.pop();
      else {
        steps[steps.length - 1] = ANY;
        mayBeAbove = true;
      }
    } else if (step === ANY && steps.length <= begin.length && steps.every((each, index) => each === begin[index])) {
      steps = [ANY];
      above = 0;
    } else if (step !== ANY || last !== ANY) steps.push(step);
  }
  return { steps, above, mayBeAbove };
}

/** The path of a pattern without unknown parts, `.` for the root; null for any other, and outside the repository. */
export function onlyPath({ steps, above }: PathPattern): string | null {
  return above > 0 || steps.some((step) => step.includes(ANY)) ? null : steps.join("/") || ".";
}

/** Whether the last part of the path is written out. */
export function hasKnownEnd({ steps }: PathPattern): boolean {
  return steps.length > 0 && steps.at(-1)?.includes(ANY) === false;
}

/**
 * Whether a pattern may be a path, `.` for the root. Folders above the root have names that nobody knows here; the last of
 * them may be the repository's own.
 */
export function mayBe({ steps, above, mayBeAbove }: PathPattern, path: string): boolean {
  const isOf = (some: readonly string[]): boolean =>
    matches(some.map((step) => (step === ANY ? ANY : `/${step}`)).join(""), path === "." ? "" : `/${path}`);
  if (above > 0) return steps.length > above && isOf(steps.slice(above));
  return isOf(steps) || (mayBeAbove && steps.length > 2 && isOf(steps.slice(steps.indexOf(ANY) + 2)));
}

/** Whether an absolute path may be a path of the repository, which may be checked out in any folder on its way. */
export function mayEndWith({ steps }: PathPattern, path: string): boolean {
  const ends = steps.map((_, index) => ({ steps: steps.slice(index), above: 0, mayBeAbove: false }));
  return ends.some((end) => mayBe(end, path));
}

/** Whether a text is that of a pattern: takes time in proportion to the product of their lengths at most. */
function matches(pattern: string, text: string): boolean {
  let [at, from] = [0, 0];
  let [star, starFrom] = [-1, 0];
  while (from < text.length) {
    if (pattern[at] === ANY) {
      star = at;
      starFrom = from;
      at += 1;
    } else if (at < pattern.length && pattern[at] === text[from]) {
      at += 1;
      from += 1;
    } else if (star >= 0) {
      at = star + 1;
      starFrom += 1;
      from = starFrom;
    } else return false;
  }
  while (pattern[at] === ANY) at += 1;
  return at === pattern.length;
}

/** The folders on the way to a path, from its own up, without the root. */
export function foldersOf(path: string): readonly string[] {
  const folder = posix.dirname(path);
  return folder === "." || folder === "/" ? [] : [folder, ...foldersOf(folder)];
}
