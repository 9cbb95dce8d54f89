/** Maximum length of a mark, in characters. */
const MAX_MARK = 255;
/**
 * Matches the text of a number that is not finite, such as the JSON number `1e400`. Such a text cannot be a mark,
 * because different numbers have the same text.
 */
const NO_NUMBER = /^(-?Infinity|NaN)$/;

/**
 * Returns why a text is not a valid mark; null if the text is valid. The service does not replace invalid characters,
 * because two marks that differ only in such characters could become the same mark.
 */
export function whyNoMark(text: string): string | null {
  if (text === "") return "it is empty";
  if (NO_NUMBER.test(text)) return "it is a number that is too large";
  if (text.length > MAX_MARK) return `it is longer than ${MAX_MARK} characters`;
  if (!text.isWellFormed()) return "it contains half of a surrogate pair";
  const control = /\p{Cc}/u.exec(text)?.[0];
  if (control === undefined) return null;
  return `it contains the control character U+${control.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
}
