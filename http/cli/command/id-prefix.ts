import { CommandError } from "./exit-codes.js";

/** The digits of ids, in order (Crockford's base 32, as in a ULID). */
const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const ID_DIGITS = 26;
/** Maximum number of ids in the error for an ambiguous prefix. */
const NAMED = 5;

/** An id or an id prefix, including its kind: for example `task_01`. */
export interface IdPrefix {
  readonly text: string;
  readonly isWhole: boolean;
}

/**
 * Parses an id or an id prefix, in upper or lower case. The text may omit the kind, such as `task_`. Returns null if no
 * id of this kind can begin with the text.
 */
export function parseIdPrefix(kind: string, text: string): IdPrefix | null {
  const [, digits] = new RegExp(`^(?:${kind}_)?([${DIGITS}]{1,${ID_DIGITS}})$`, "i").exec(text) ?? [];
  if (digits === undefined) return null;
  return { text: `${kind}_${digits.toUpperCase()}`, isWhole: digits.length === ID_DIGITS };
}

/**
 * Returns the lowest id that is higher than all ids with the prefix; undefined if there is none. As the value of
 * `before`, it makes a list skip all ids above those with the prefix.
 */
export function toIdAfter(kind: string, { text }: IdPrefix): string | undefined {
  const digits = text.slice(kind.length + 1).replace(/Z+$/, "");
  const last = digits.at(-1);
  if (last === undefined) return undefined;
  const next = digits.slice(0, -1) + DIGITS[DIGITS.indexOf(last) + 1];
  return `${kind}_${next.padEnd(ID_DIGITS, "0")}`;
}

/**
 * Returns the id that equals the text, or the only id in the list with this prefix (see {@link parseIdPrefix}). Throws
 * a {@link CommandError} if several ids have the prefix. If no id has the prefix, returns the text: it may be a whole
 * id, and `listed` may contain only the latest ids.
 */
export function pickId(text: string, listed: readonly string[]): string {
  const found = listed.filter((id) => {
    const kind = id.slice(0, Math.max(id.lastIndexOf("_"), 0));
    return id.startsWith(parseIdPrefix(kind, text)?.text ?? text);
  });
  const equal = found.find((id) => id === text);
  const [only, second] = found;
  if (second === undefined || equal !== undefined) return equal ?? only ?? text;
  const more = found.length > NAMED ? ", …" : "";
  throw new CommandError(`${text} is ambiguous: it is the prefix of ${found.slice(0, NAMED).join(", ")}${more}`);
}
