import { posix } from "node:path";

/** Represents any text in a pattern. No path contains this character. */
const ANY = "\0";

/** The parts of a path in an expression, in order. Null for an unknown part. */
export type PathParts = readonly (string | null)[];

/** The folder that a path starts in: `.` for the repository's root, null if unknown. */
export type PathBase = string | null;

/**
 * The set of paths that an expression may give. Paths are normalized as in Terraform: by their text, before symlinks
 * are followed. An unknown part can be any text. Such a part may lead above the start of the path, but not out of a
 * literal folder that precedes the part.
 */
export interface PathPattern {
  /**
   * The parts between slashes, from the repository's root. A part that is only {@link ANY} matches any number of parts.
   */
  readonly steps: readonly string[];
  /** How many folders above the repository's root the path starts. */
  readonly above: number;
  /** Whether the path goes up from an unknown folder, so that it may start above the root. */
  readonly mayBeAbove: boolean;
}

/** Builds the pattern of a path. `file("${path.module}/a")` has the module's folder as base and the part `/a`. */
export function toPattern(base: PathBase, parts: PathParts): PathPattern {
  const begin = base === null ? [ANY] : base.split("/").filter((step) => step !== ".");
  // Text directly after a known folder, without a slash, extends the folder's name.
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

/**
 * Returns the only path that a pattern matches, `.` for the root. Null if a part is unknown, or if the path is outside
 * the repository.
 */
export function onlyPath({ steps, above }: PathPattern): string | null {
  return above > 0 || steps.some((step) => step.includes(ANY)) ? null : steps.join("/") || ".";
}

/** Whether the last part of the path is fully known. */
export function hasKnownEnd({ steps }: PathPattern): boolean {
  return steps.length > 0 && steps.at(-1)?.includes(ANY) === false;
}

/**
 * Whether a pattern may match a path; `.` is the root. If the pattern starts above the root, the folders that lead back
 * down to the root may have any names.
 */
export function mayBe({ steps, above, mayBeAbove }: PathPattern, path: string): boolean {
  const isOf = (some: readonly string[]): boolean =>
    matches(some.map((step) => (step === ANY ? ANY : `/${step}`)).join(""), path === "." ? "" : `/${path}`);
  if (above > 0) return steps.length > above && isOf(steps.slice(above));
  return isOf(steps) || (mayBeAbove && steps.length > 2 && isOf(steps.slice(steps.indexOf(ANY) + 2)));
}

/**
 * Whether an absolute path may point to `path` in the repository. Any folder in the absolute path may be the checkout
 * folder.
 */
export function mayEndWith({ steps }: PathPattern, path: string): boolean {
  const ends = steps.map((_, index) => ({ steps: steps.slice(index), above: 0, mayBeAbove: false }));
  return ends.some((end) => mayBe(end, path));
}

/** Whether a text matches a pattern. Takes at most time proportional to the product of their lengths. */
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

/** Returns the parent folders of a path, nearest first, without the root. */
export function listFolders(path: string): readonly string[] {
  const folder = posix.dirname(path);
  return folder === "." || folder === "/" ? [] : [folder, ...listFolders(folder)];
}
