/** A table of figures: a title, a note about the method, and rows of cells under column names. */
export interface Table {
  readonly title: string;
  readonly note: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

/** Prints a table as Markdown. Numbers have thousands separators. */
export function printTable(table: Table): void {
  const text = (cell: string | number) => (typeof cell === "number" ? cell.toLocaleString("en-US") : cell);
  const line = (cells: readonly (string | number)[]) => `| ${cells.map(text).join(" | ")} |`;
  console.log(`\n### ${table.title}\n\n${table.note}\n`);
  console.log(line(table.columns));
  console.log(`|${table.columns.map(() => "---").join("|")}|`);
  for (const row of table.rows) console.log(line(row));
}

/** Returns the value at `share` (0 to 1) of the sorted values; 0 if there are none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}
