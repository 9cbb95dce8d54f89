import type { Syntax } from "./hcl-syntax.js";
import type { ParsedValues } from "./hcl-values.js";

/** What reads HCL: one says where everything stands, the other what it says. */
export interface Parsers {
  readonly syntax: Syntax;
  readonly parseValues: (path: string, text: string) => Promise<ParsedValues>;
}
