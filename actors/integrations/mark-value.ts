/** Maximum length of a mark, in characters. */
const MAX_MARK = 255;

/**
 * Returns why a text is not a valid mark; null if it is. Invalid characters are not replaced, because two marks that
 * differ only in them could become the same mark.
 */
export function whyNoMark(text: string): string | null {
  if (text === "") return "it is empty";
  if (text.length > MAX_MARK) return `it is longer than ${MAX_MARK} characters`;
  if (!text.isWellFormed()) return "it holds half of a surrogate pair";
  const control = /\p{Cc}/u.exec(text)?.[0];
  if (control === undefined) return null;
  return `it holds the control character U+${control.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
}
