import type { Syntax } from "./hcl-syntax.js";
import type { ParsedValues } from "./hcl-values.js";

/** The two HCL parsers: `syntax` gives positions, `parseValues` gives values. */
export interface Parsers {
  readonly syntax: Syntax;
  readonly parseValues: (path: string, text: string) => Promise<ParsedValues>;
  /** Called before a file is parsed, for the message of an edit that takes too long. */
  onFile?(path: string): void;
}
