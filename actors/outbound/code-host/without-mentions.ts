/**
 * Changes a text so that the code host does not notify the people that the text names. Inserts a zero-width space after
 * each `@` that would be a mention, also in code and in URLs. GitHub reads `@name` as a mention unless a letter or
 * digit precedes the `@`. This also applies if the `@` or the first character of the name is escaped, in any form.
 */
export function withoutMentions(text: string): string {
  return text.replace(MENTION, "$&\u200b");
}

/**
 * Matches an `@`, or an HTML entity for it, before a name. Does not match the `@` in a mail address, or an `@` without
 * a name.
 */
const MENTION = /(?:(?<![a-z0-9])@|&#0*64;|&#x0*40;|&commat;)(?=[a-z0-9&])/gi;
