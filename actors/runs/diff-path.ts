/**
 * Parses the path after `---` or `+++` and removes the prefix; null for `/dev/null`. If a path contains spaces, git
 * writes a tab after it.
 */
export function findPath(text: string, prefix: "a/" | "b/"): string | null {
  const tab = text.indexOf("\t");
  const path = unquoted(tab === -1 ? text : text.slice(0, tab));
  return path === "/dev/null" ? null : withoutPrefix(path, prefix);
}

/**
 * Parses the path from the text after `diff --git`, which contains the same path twice. Do not use this for a renamed
 * file: its paths are in the header lines that follow.
 */
export function pathOfBoth(text: string): string {
  const end = endOfQuoted(text);
  return withoutPrefix(end === -1 ? text.slice(0, (text.length - 1) / 2) : unquoted(text.slice(0, end)), "a/");
}

/** Decodes a path in git's notation: quoted and escaped if it has unusual bytes. Linear time for any characters. */
export function unquoted(text: string): string {
  if (text.length < 2 || !text.startsWith('"') || !text.endsWith('"')) return text;
  const bytes = Buffer.from(text.slice(1, -1));
  let length = 0;
  for (let at = 0; at < bytes.length; length += 1) {
    const isEscape = bytes[at] === BACKSLASH && at + 1 < bytes.length;
    const octal = isEscape ? octalAt(bytes, at + 1) : null;
    const escaped = bytes[at + 1] ?? 0;
    bytes[length] = isEscape ? (octal ?? ESCAPED.get(escaped) ?? escaped) : (bytes[at] ?? 0);
    at += octal !== null ? 4 : isEscape ? 2 : 1;
  }
  return bytes.toString("utf8", 0, length);
}

const [BACKSLASH, QUOTE, ZERO, SEVEN] = [0x5c, 0x22, 0x30, 0x37];

/** The byte for the letter of each escape. */
const ESCAPED: ReadonlyMap<number, number> = new Map(
  Object.entries({ n: "\n", t: "\t", r: "\r", a: "\x07", b: "\b", f: "\f", v: "\v" }).map(([letter, byte]) => [
    letter.charCodeAt(0),
    byte.charCodeAt(0),
  ]),
);

/** Reads the byte of a three-digit octal escape; null if the digits are not octal. */
function octalAt(bytes: Buffer, at: number): number | null {
  let value = 0;
  for (let place = at; place < at + 3; place++) {
    const digit = bytes[place] ?? 0;
    if (digit < ZERO || digit > SEVEN) return null;
    value = value * 8 + digit - ZERO;
  }
  return value & 0xff;
}

/**
 * Returns the end of the quoted text at the start of `text`. Returns -1 if `text` does not start with a quote, or if
 * the quote never ends.
 */
function endOfQuoted(text: string): number {
  if (text.charCodeAt(0) !== QUOTE) return -1;
  for (let at = 1; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) return at + 1;
    if (unit === BACKSLASH) at += 1;
  }
  return -1;
}

function withoutPrefix(path: string, prefix: string): string {
  return path.startsWith(prefix) ? path.slice(prefix.length) : path;
}
