/** Longest value of a header that a definition writes, in characters. */
export const MAX_HEADER_LENGTH = 8_192;

/** Whether a text may stand in a header: tabs, and the visible characters of Latin-1. */
export function isHeaderText(text: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text);
}
