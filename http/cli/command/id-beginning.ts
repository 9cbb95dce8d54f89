/** The digits of ids, in order (Crockford's base 32, as in a ULID). */
const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const ID_DIGITS = 26;

/** An id or the beginning of one, with its prefix. */
export interface IdBeginning {
  readonly text: string;
  readonly isWhole: boolean;
}

/**
 * Parses an id or its beginning, in upper or lower case, with or without its prefix. Null if the text cannot begin such
 * an id.
 */
export function parseIdBeginning(prefix: string, text: string): IdBeginning | null {
  const [, digits] = new RegExp(`^(?:${prefix}_)?([${DIGITS}]{1,${ID_DIGITS}})$`, "i").exec(text) ?? [];
  if (digits === undefined) return null;
  return { text: `${prefix}_${digits.toUpperCase()}`, isWhole: digits.length === ID_DIGITS };
}

/**
 * Returns the lowest id that is higher than all ids that begin with the text. It is the `before` of a list with the
 * newest first. Undefined if there is no such id.
 */
export function toIdAfter(prefix: string, { text }: IdBeginning): string | undefined {
  const digits = text.slice(prefix.length + 1).replace(/Z+$/, "");
  const last = digits.at(-1);
  if (last === undefined) return undefined;
  const next = digits.slice(0, -1) + DIGITS[DIGITS.indexOf(last) + 1];
  return `${prefix}_${next.padEnd(ID_DIGITS, "0")}`;
}
