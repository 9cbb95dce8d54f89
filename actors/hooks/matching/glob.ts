/**
 * Globs of changed paths (configuration API, Hook): `**`, `*`, `?`, and a trailing `/` for everything below a folder.
 */

import type { Work } from "../../expressions/meter.js";

export interface PathPattern {
  /** Returns whether the glob matches the complete path. Also returns false if `work` has too few units left. */
  matches(path: string, work?: Work): boolean;
}

/** Number of positions tested per unit. The next constant is the cost in units to start matching a path. */
const PLACES_A_UNIT = 10;
const UNITS_TO_BEGIN = 5;

/**
 * Compiles a glob to a sequence of single characters. A wildcard run (`*` or `**`) may come before each character and
 * at the end. Matching takes time proportional to the path's length times the number of characters in the sequence.
 */
export function compileGlob(glob: string): PathPattern {
  const whole = glob.endsWith("/") ? `${glob}**` : glob;
  const places = toPlaces(whole);
  const [beginning = ""] = /^[^*?]*/.exec(whole) ?? [];
  const [ending = ""] = /[^*?]*$/.exec(whole) ?? [];
  return {
    matches: (path, work = { units: Number.POSITIVE_INFINITY }) => {
      work.units -= 1;
      return path.startsWith(beginning) && path.endsWith(ending) && matches(places, path, work);
    },
  };
}

/** Matches any single character but `/`. */
const ONE = -1;
const SLASH = 0x2f;

/** The text that may come before a position: none, text without `/` (for `*`), or any text (for `**`). */
const NO_RUN = 0;
const RUN_IN_NAME = 1;
const ANY_RUN = 2;

interface Places {
  /** Code points, or {@link ONE}. */
  readonly singles: Int32Array;
  /** The run before each single character, and the run at the end. So it has one more entry than `singles`. */
  readonly runs: Uint8Array;
}

function toPlaces(glob: string): Places {
  const singles: number[] = [];
  const runs = [NO_RUN];
  for (const [token] of glob.matchAll(/\*\*|[\s\S]/gu)) {
    const isRun = token === "**" || token === "*";
    const place = singles.length;
    if (isRun) runs[place] = Math.max(runs[place] ?? NO_RUN, token === "*" ? RUN_IN_NAME : ANY_RUN);
    else {
      singles.push(token === "?" ? ONE : (token.codePointAt(0) ?? ONE));
      runs.push(NO_RUN);
    }
  }
  return { singles: Int32Array.from(singles), runs: Uint8Array.from(runs) };
}

/**
 * Follows all possible matches of the glob at once. After each character of the path, it knows the set of positions in
 * the glob that the path so far can reach.
 */
function matches({ singles, runs }: Places, path: string, work: Work): boolean {
  // Positions are in increasing order. From each position the search continues at that position, at the next one, or at
  // both. So duplicates are always adjacent.
  let places = new Int32Array(runs.length);
  let next = new Int32Array(runs.length);
  let count = 1;
  let left = (work.units - UNITS_TO_BEGIN) * PLACES_A_UNIT;
  for (let at = 0; at < path.length && count > 0; at++) {
    const character = path.codePointAt(at) ?? ONE;
    if (character > 0xffff) at += 1;
    left -= count;
    if (left < 0) break;
    let reached = 0;
    for (let index = 0; index < count; index++) {
      const place = places[index] ?? 0;
      const run = runs[place] ?? NO_RUN;
      const stays = run === ANY_RUN || (run === RUN_IN_NAME && character !== SLASH);
      if (stays && (reached === 0 || next[reached - 1] !== place)) next[reached++] = place;
      const single = singles[place];
      if (single === character || (single === ONE && character !== SLASH)) next[reached++] = place + 1;
    }
    [places, next] = [next, places];
    count = reached;
  }
  work.units = left / PLACES_A_UNIT;
  return left >= 0 && count > 0 && places[count - 1] === singles.length;
}
