/**
 * What others wrote (titles, reasons, a service's sentences) as plain text of one line. Control characters, what turns
 * the direction of writing and what nobody sees become a space. A CI's log reads commands out of lines: those of GitHub
 * begin a line with `::`, or stand anywhere after `##[`.
 */

const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu;

/** One line of at most `most` characters. */
export function oneLine(text: string, most: number): string {
  const characters = [...text.replace(UNSEEN, " ").trim()];
  return characters.length <= most ? characters.join("") : `${characters.slice(0, most - 1).join("")}…`;
}

/** A line for a terminal and a CI's log. */
export function toLogLine(text: string, most: number): string {
  return oneLine(text, most)
    .replaceAll("##[", "## [")
    .replace(/^:+/, (colons) => " ".repeat(colons.length))
    .trimStart();
}

/** The text without any of the secrets. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((left, secret) => (secret === "" ? left : left.replaceAll(secret, "***")), text);
}
