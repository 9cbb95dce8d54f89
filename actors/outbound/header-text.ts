/** Maximum length of a header value in a definition, in characters. */
export const MAX_HEADER_LENGTH = 8_192;

/** Whether a text is a valid header value: tabs and the visible characters of Latin-1. */
export function isHeaderText(text: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text);
}
