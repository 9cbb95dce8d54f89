/** Globs of changed paths (configuration API, Hook): `**`, `*`, `?`, and a trailing `/` for all that is below. */

export interface PathPattern {
  matches(path: string): boolean;
}

/** What one place of a pattern takes: characters that are told, or runs and single ones of some kind. */
type Part = { readonly text: string } | { readonly any: "run" | "one"; readonly slash: boolean };

const MOST_KEPT = 1_000;
const kept = new Map<string, PathPattern>();

/** A glob, compiled once. It is matched in time linear in the path for each of its parts. */
export function pathPattern(glob: string): PathPattern {
  const known = kept.get(glob);
  if (known !== undefined) return known;
  const parts = partsOf(glob.endsWith("/") ? `${glob}**` : glob);
  const pattern: PathPattern = { matches: (path) => matches(parts, path) };
  if (kept.size >= MOST_KEPT) kept.delete(kept.keys().next().value ?? "");
  kept.set(glob, pattern);
  return pattern;
}

function partsOf(glob: string): Part[] {
  return (glob.match(/\*\*|\*|\?|[^*?]+/g) ?? []).map((token): Part => {
    if (token === "**") return { any: "run", slash: true };
    if (token === "*") return { any: "run", slash: false };
    return token === "?" ? { any: "one", slash: false } : { text: token };
  });
}

/** Follows every way through the parts at once: which of them the path may have come to, character by character. */
function matches(parts: readonly Part[], path: string): boolean {
  let ends = new Set([0]);
  for (const part of parts) {
    ends = "text" in part ? afterText(part.text, path, ends) : afterAny(part, path, ends);
    if (ends.size === 0) return false;
  }
  return ends.has(path.length);
}

function afterText(text: string, path: string, starts: ReadonlySet<number>): Set<number> {
  return new Set([...starts].filter((start) => path.startsWith(text, start)).map((start) => start + text.length));
}

function afterAny(
  { any, slash }: Exclude<Part, { text: string }>,
  path: string,
  starts: ReadonlySet<number>,
): Set<number> {
  const fits = (at: number) => at < path.length && (slash || path[at] !== "/");
  if (any === "one") return new Set([...starts].filter(fits).map((start) => start + 1));
  const ends = new Set<number>();
  for (const start of [...starts].sort((left, right) => left - right)) {
    for (let at = start; !ends.has(at); at++) {
      ends.add(at);
      if (!fits(at)) break;
    }
  }
  return ends;
}
