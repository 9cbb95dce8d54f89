/**
 * Writes a text as a heredoc that replaces another heredoc. Keeps the old indentation and, where possible, the old end
 * word. Returns null if a heredoc cannot represent the text exactly, for one of these reasons:
 * - The last line has no newline.
 * - The newlines differ from the file's.
 * - The text has characters that a heredoc cannot contain.
 * - `<<-` would remove indentation.
 *
 * Source: the HCL native syntax specification, hashicorp/hcl, `hclsyntax/spec.md` and `hclsyntax/parser_template.go`.
 */
export function writeHeredoc(text: string, written: string, newline: string): string | null {
  const [, flush = "", word = ""] = /^<<(-?)([^\s]*)/.exec(written) ?? [];
  if (!isRepresentable(text, newline)) return null;
  const lines = text === "" ? [] : text.slice(0, -newline.length).split(newline);
  if (flush !== "" && !keepsIndentation(lines)) return null;
  const indent = flush === "" ? "" : toIndent(written);
  const end = `${/[ \t]*$/.exec(written.slice(0, -word.length))?.[0] ?? ""}${endWord(word, lines)}`;
  const body = lines.map((line) => `${isBlank(line) ? "" : indent}${escaped(line)}`);
  return [`<<${flush}${end.trimStart()}`, ...body, end].join(newline);
}

/**
 * Writes a text as a new heredoc for an attribute with this indentation. Returns null for a text of one line, and in
 * the cases of {@link writeHeredoc}.
 */
export function newHeredoc(text: string, indent: string, newline: string): string | null {
  if (text.split(newline).length <= 2) return null;
  return writeHeredoc(text, ["<<-EOT", `${indent}  .`, `${indent}EOT`].join(newline), newline);
}

function isRepresentable(text: string, newline: string): boolean {
  const joined = text.replaceAll(newline, "");
  // HCL would read a `$` or `%` before an escaped `${` or `%{` as part of a template.
  const isSure = !/\$\$\{|%%\{/.test(text) && !/[\p{Cc}\ufeff\u2028\u2029]/u.test(joined.replaceAll("\t", ""));
  return (text === "" || text.endsWith(newline)) && isSure && !/\p{Cs}/u.test(text);
}

/** Whether `<<-`, which removes the lines' common indentation, would remove nothing from these lines. */
function keepsIndentation(lines: readonly string[]): boolean {
  const solid = lines.filter((line) => !isBlank(line));
  return solid.length === 0 || solid.some((line) => !/^[\s\u0085]/.test(line));
}

function isBlank(line: string): boolean {
  return /^[\s\u0085]*$/.test(line);
}

/**
 * Returns the common indentation of a heredoc's lines. A heredoc without text gets two spaces more than its end word.
 */
function toIndent(written: string): string {
  const lines = written.split(/\r?\n/);
  const indents = lines
    .slice(1, -1)
    .filter((line) => !isBlank(line))
    .map((line) => /^[ \t]*/.exec(line)?.[0] ?? "");
  const least = indents.sort((left, right) => left.length - right.length)[0];
  return least ?? `${/^[ \t]*/.exec(lines.at(-1) ?? "")?.[0] ?? ""}  `;
}

/** Returns an end word that no line starts with. */
function endWord(word: string, lines: readonly string[]): string {
  const isFree = (each: string) => each !== "" && !lines.some((line) => line.trimStart().startsWith(each));
  let found = isFree(word) ? word : "EOT";
  for (let number = 2; !isFree(found); number += 1) found = `EOT_${number}`;
  return found;
}

function escaped(line: string): string {
  return line.replace(/([$%])\{/g, "$1$1{");
}
