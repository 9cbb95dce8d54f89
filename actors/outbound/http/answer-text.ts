import { isUtf8 } from "node:buffer";
import { MIMEType } from "node:util";

/** Decoded text, with any doubt about the decoding. */
export interface ReadText {
  /** The text without a leading byte order mark. U+FFFD replaces bytes that are invalid in the charset. */
  readonly text: string;
  /** Why the text may differ from what was sent, as a clause without a capital letter; null if there is no doubt. */
  readonly doubt: string | null;
}

const BOM = [0xef, 0xbb, 0xbf] as const;
/** Maximum length of a charset name in a message, in characters. */
const MAX_NAME = 40;

/**
 * Decodes bytes that another system sent. Never throws. Takes the charset from the first of these that gives one:
 * 1. the byte order mark;
 * 2. the zero bytes of JSON in UTF-16 and UTF-32 (RFC 4627, section 3);
 * 3. the charset in `contentType`;
 * 4. the default, UTF-8.
 */
export function readText(bytes: Uint8Array, contentType?: string | readonly string[]): ReadText {
  const charset = findCharset(bytes) ?? declaredCharset(contentType) ?? "utf-8";
  // JSON in UTF-16 has a zero byte among its first two bytes. If bytes that are labelled as UTF-16 have no such zero
  // byte and are valid UTF-8, the label is wrong.
  const isMislabelled = /^utf-?16/i.test(charset) && !hasZeros(bytes) && !hasMark16(bytes) && isUtf8(bytes);
  if (isMislabelled) return { text: decodeUtf8(bytes), doubt: `it declares charset ${charset}, but is UTF-8` };
  if (isUtf8(bytes) && /^utf-?8$/i.test(charset)) return { text: decodeUtf8(bytes), doubt: null };
  const decoder = createDecoder(charset);
  if (decoder === null)
    return { text: decodeUtf8(bytes), doubt: `the charset ${charset.slice(0, MAX_NAME)} is not supported` };
  try {
    return { text: decoder.strict.decode(bytes), doubt: null };
  } catch {
    return { text: decoder.lenient.decode(bytes), doubt: `it is not valid ${decoder.strict.encoding.toUpperCase()}` };
  }
}

function decodeUtf8(bytes: Uint8Array): string {
  const from = BOM.every((byte, at) => bytes[at] === byte) ? BOM.length : 0;
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, bytes.length - from).toString("utf8");
}

/** Returns the charset that the first bytes reveal; null if they reveal none. */
function findCharset(bytes: Uint8Array): string | null {
  const [first = 1, second = 1, third = 1, fourth = 1] = bytes;
  if (BOM.every((byte, at) => bytes[at] === byte)) return "utf-8";
  if (first === 0 && second === 0) return "utf-32";
  if (second === 0 && third === 0 && fourth === 0) return "utf-32";
  if (first === 0xff && second === 0xfe) return third === 0 && fourth === 0 ? "utf-32" : "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  if (second === 0) return "utf-16le";
  return first === 0 ? "utf-16be" : null;
}

function hasZeros([first, second]: Uint8Array): boolean {
  return first === 0 || second === 0;
}

function hasMark16([first, second]: Uint8Array): boolean {
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}

/** Returns the charset that a `content-type` declares; null if it declares none. */
function declaredCharset(contentType: string | readonly string[] | undefined): string | null {
  const [type = ""] = [contentType ?? []].flat();
  try {
    const charset = new MIMEType(type).params.get("charset")?.replace(/[^\w.:+-]/g, "") ?? "";
    return charset === "" ? null : charset;
  } catch {
    return null;
  }
}

function createDecoder(charset: string): { readonly strict: TextDecoder; readonly lenient: TextDecoder } | null {
  try {
    return { strict: new TextDecoder(charset, { fatal: true }), lenient: new TextDecoder(charset) };
  } catch {
    return null;
  }
}
