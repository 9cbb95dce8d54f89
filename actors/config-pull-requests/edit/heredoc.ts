/**
 * A text as a heredoc in the place of another one, with its indentation and where possible its end word. Null for a text
 * that no heredoc gives exactly: its last line does not end, its lines end otherwise than the file's, it has characters
 * that heredocs cannot have, or indentation that would be lost.
 * Source: the HCL native syntax specification, hashicorp/hcl, `hclsyntax/spec.md` and `hclsyntax/parser_template.go`.
 */
export function writeHeredoc(text: string, written: string, newline: string): string | null {
  const [, flush = "", word = ""] = /^<<(-?)([^\s]*)/.exec(written) ?? [];
  if (!isHeld(text, newline)) return null;
  const lines = text === "" ? [] : text.slice(0, -newline.length).split(newline);
  if (flush !== "" && !keepsIndentation(lines)) return null;
  const indent = flush === "" ? "" : indentOf(written);
  const end = `${/[ \t]*$/.exec(written.slice(0, -word.length))?.[0] ?? ""}${endWord(word, lines)}`;
  const body = lines.map((line) => `${isBlank(line) ? "" : indent}${escaped(line)}`);
  return [`<<${flush}${end.trimStart()}`, ...body, end].join(newline);
}

/** A text as a new heredoc on a line of its own indentation; null as above, and for a text of one line. */
export function newHeredoc(text: string, indent: string, newline: string): string | null {
  if (text.split(newline).length <= 2) return null;
  return writeHeredoc(text, ["<<-EOT", `${indent}  .`, `${indent}EOT`].join(newline), newline);
}

function isHeld(text: string, newline: string): boolean {
  const joined = text.replaceAll(newline, "");
  // A sign before an escaped one cannot be told from a template.
  const isSure = !/\$\$\{|%%\{/.test(text) && !/[\p{Cc}\ufeff\u2028\u2029]/u.test(joined.replaceAll("\t", ""));
  return (text === "" || text.endsWith(newline)) && isSure && !/\p{Cs}/u.test(text);
}

/** Whether `<<-`, which takes away what all lines begin with, takes nothing of these. */
function keepsIndentation(lines: readonly string[]): boolean {
  const solid = lines.filter((line) => !isBlank(line));
  return solid.length === 0 || solid.some((line) => !/^[\s\u0085]/.test(line));
}

function isBlank(line: string): boolean {
  return /^[\s\u0085]*$/.test(line);
}

/** What all lines of a heredoc begin with; a level below its end word when it has none. */
function indentOf(written: string): string {
  const lines = written.split(/\r?\n/);
  const indents = lines
    .slice(1, -1)
    .filter((line) => !isBlank(line))
    .map((line) => /^[ \t]*/.exec(line)?.[0] ?? "");
  const least = indents.sort((left, right) => left.length - right.length)[0];
  return least ?? `${/^[ \t]*/.exec(lines.at(-1) ?? "")?.[0] ?? ""}  `;
}

/** A word that no line begins with. */
function endWord(word: string, lines: readonly string[]): string {
  const isFree = (each: string) => each !== "" && !lines.some((line) => line.trimStart().startsWith(each));
  let found = isFree(word) ? word : "EOT";
  for (let number = 2; !isFree(found); number += 1) found = `EOT_${number}`;
  return found;
}

function escaped(line: string): string {
  return line.replace(/([$%])\{/g, "$1$1{");
}
