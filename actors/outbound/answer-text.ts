import { isUtf8 } from "node:buffer";
import { MIMEType } from "node:util";

/** Bytes as text. */
export interface ReadText {
  /** Without a leading byte order mark. Bytes that the charset does not have are U+FFFD. */
  readonly text: string;
  /** Why the text may not be what was sent, as a sentence without a capital; null when nothing is in doubt. */
  readonly doubt: string | null;
}

const BOM = [0xef, 0xbb, 0xbf] as const;
/** Longest charset name shown in a reason, in characters. */
const MAX_NAME = 40;

/**
 * Decodes bytes that another system sent: by their byte order mark, else by the zeros that JSON has in UTF-16 and UTF-32
 * (RFC 4627, section 3), else by the charset of the `content-type`, else as UTF-8. Never throws.
 */
export function readText(bytes: Uint8Array, contentType?: string | readonly string[]): ReadText {
  const charset = findCharset(bytes) ?? declaredCharset(contentType) ?? "utf-8";
  // JSON in UTF-16 has zeros: a text without them that is valid UTF-8 carries a wrong label.
  const isMislabelled = /^utf-?16/i.test(charset) && !hasZeros(bytes) && !hasMark16(bytes) && isUtf8(bytes);
  if (isMislabelled) return { text: decodeUtf8(bytes), doubt: `it says charset ${charset}, and is UTF-8` };
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

/** The charset that the first bytes show; null when they show none. */
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

/** The charset of a `content-type`; null when it names none. */
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
