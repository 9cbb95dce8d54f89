import type { Syntax } from "./hcl-syntax.js";
import type { ParsedValues } from "./hcl-values.js";

/** The two HCL parsers: `syntax` gives positions, `parseValues` gives values. */
export interface Parsers {
  readonly syntax: Syntax;
  readonly parseValues: (path: string, text: string) => Promise<ParsedValues>;
}
