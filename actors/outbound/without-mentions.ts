/**
 * The text of an agent or a person, such that the code host tells nobody of it who is only named: an `@` that would mention
 * somebody is followed by a space without width, in code and in addresses too. Source: GitHub takes `@name` for a mention
 * wherever no letter or digit stands before it, however its first two characters are escaped.
 */
export function withoutMentions(text: string): string {
  return text.replace(MENTION, "$&\u200b");
}

/** Not the sign within a mail address, and none that stands alone. */
const MENTION = /(?:(?<![a-z0-9])@|&#0*64;|&#x0*40;|&commat;)(?=[a-z0-9&])/gi;
