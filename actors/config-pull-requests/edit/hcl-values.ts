/** JSON values as HashiCorp's parser returns them. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | { readonly [name: string]: Json };
export type JsonObject = { readonly [name: string]: Json };

/** The values of a file, or the parser's error message. */
export type ParsedValues = { readonly values: JsonObject } | { readonly fault: string };

/**
 * Parses an HCL file with HashiCorp's own parser. Blocks become lists by type and labels; attributes become members by
 * name. An expression becomes the text `${…}`, and a `${` in plain text is escaped.
 *
 * The result does not distinguish `x` from `"${x}"`, a block from an object in a list, or `5` from `5.0`. If an object
 * repeats a key, only the last value remains.
 *
 * The parser blocks its thread for some milliseconds per kilobyte, and longer for heredocs with many lines. A file can
 * crash the parser permanently, so call this function in a separate thread.
 */
export async function parseValues(path: string, text: string): Promise<ParsedValues> {
  // Load the module on first use: it is compiled from Go, takes 300 ms to load, and sets globals.
  const { parse } = await import("@cdktn/hcl2json");
  try {
    return { values: await parse(path, text) };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}
