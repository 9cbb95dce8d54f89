/**
 * Control characters, line breaks, and format characters, which hide text or change its direction. U+200C and U+200D are
 * allowed, because names in Persian and Indic scripts and emoji need them.
 */
const HIDDEN = /[\p{Cc}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/u;

/** Whether a name that a person chose contains characters that could break a line or imitate another name. */
export function hasHiddenCharacters(name: string): boolean {
  return HIDDEN.test(name);
}

/** Replaces the characters that {@link hasHiddenCharacters} finds with spaces. */
export function replaceHiddenCharacters(text: string): string {
  return text.replace(new RegExp(HIDDEN, "gu"), " ");
}
