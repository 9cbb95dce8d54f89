import { isUtf8 } from "node:buffer";

/** Maximum length of a header value in a definition, in characters. */
export const MAX_HEADER_LENGTH = 8_192;

/**
 * Whether a text is a valid header value: tabs, and all characters of Latin-1 except the control characters of ASCII.
 */
export function isHeaderText(text: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text);
}

/**
 * Returns the address in a `location` header, relative or absolute. The HTTP library reads header bytes as Latin-1, but
 * some hosts send UTF-8 without percent-encoding. Therefore, bytes that are valid UTF-8 are decoded as UTF-8. A text
 * with characters beyond Latin-1 is already decoded, and is returned unchanged.
 */
export function toLocation(header: string): string {
  const bytes = Buffer.from(header, "latin1");
  return bytes.toString("latin1") === header && isUtf8(bytes) ? bytes.toString("utf8") : header;
}
