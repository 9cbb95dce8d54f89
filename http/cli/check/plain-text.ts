/**
 * Makes untrusted text (titles, reasons, messages of a service) printable on one line. Control, bidirectional and
 * invisible characters become a space. {@link toLogLine} also changes a leading `::` and each `##[`, because GitHub
 * Actions would run such a line as a command.
 */

const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu;

/** Converts text to one line of at most `max` characters. */
export function oneLine(text: string, max: number): string {
  const characters = [...text.replace(UNSEEN, " ").trim()];
  return characters.length <= max ? characters.join("") : `${characters.slice(0, max - 1).join("")}…`;
}

/** Converts text to a line that is safe in a terminal and a CI log. */
export function toLogLine(text: string, max: number): string {
  return oneLine(text, max)
    .replaceAll("##[", "## [")
    .replace(/^:+/, (colons) => " ".repeat(colons.length))
    .trimStart();
}

/** Replaces every secret in the text. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((left, secret) => (secret === "" ? left : left.replaceAll(secret, "***")), text);
}
