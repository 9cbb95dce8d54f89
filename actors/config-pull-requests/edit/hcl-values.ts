/** JSON as HashiCorp's parser gives it. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | { readonly [name: string]: Json };
export type JsonObject = { readonly [name: string]: Json };

/** A file, or why it is no HCL. */
export type ParsedValues = { readonly values: JsonObject } | { readonly fault: string };

/**
 * What a file of HCL says, by HashiCorp's own parser: blocks by type and labels as lists, attributes by name. A text is
 * escaped where it would be a template, an expression is the text `${…}`; so `x` and `"${x}"` read the same, a block and
 * an object in a list too, as do `5` and `5.0`, and of two equal keys of an object only the last is there.
 *
 * It takes some milliseconds of processor time a kilobyte, more for heredocs of many lines, all of it in one go. A file that it cannot bear ends it for good: run
 * it in a thread of its own.
 */
export async function parseValues(path: string, text: string): Promise<ParsedValues> {
  // It is loaded with its first use: it is compiled from Go, takes 300 ms, and sets globals.
  const { parse } = await import("@cdktn/hcl2json");
  try {
    return { values: await parse(path, text) };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}
