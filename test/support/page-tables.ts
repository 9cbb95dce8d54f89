import { lexer } from "marked";

/** Returns the text of each section of a page by its heading of the second level, deeper sections included. */
export function readSections(page: string): ReadonlyMap<string, string> {
  const parts = page.split(/^## /m).slice(1);
  return new Map(
    parts.map((part) => {
      const [heading = "", ...lines] = part.split("\n");
      return [heading.trim(), lines.join("\n")];
    }),
  );
}

/** Returns the tables of a Markdown text in order: the cells of each row as written, without the header. */
export function readTables(text: string): readonly (readonly (readonly string[])[])[] {
  return lexer(text).flatMap(({ rows }) =>
    rows === undefined ? [] : [rows.map((row) => row.map((cell) => cell.text))],
  );
}
