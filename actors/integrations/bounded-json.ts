import { countValues, readJson } from "../exact-json.js";

/**
 * Limits the JSON that the service reads from outside. Each value costs memory, and a text of a few megabytes may have
 * millions of values.
 */

/**
 * How many more values may be read from one body or response. Reading the full budget takes a few tenths of a second.
 */
export interface JsonBudget {
  values: number;
}

export const createJsonBudget = (): JsonBudget => ({ values: 200_000 });

/**
 * Parses a JSON text and subtracts its number of values from `budget`. Returns undefined if the text is not JSON, has
 * more values than `budget` allows, or nests deeper than `maxDepth`.
 */
export function parseBounded(text: string, budget: JsonBudget, maxDepth: number): unknown {
  const values = countValues(text, { most: budget.values, maxDepth });
  if (values === null) return undefined;
  budget.values -= values;
  try {
    return readJson(text);
  } catch {
    return undefined;
  }
}
