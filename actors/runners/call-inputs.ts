import { z } from "zod";
import { writeJson } from "../exact-json.js";
import { parseWellFormed } from "../well-formed.js";

/** Maximum length of a call's inputs, in characters of JSON. */
const MAX_INPUTS_CHARACTERS = 65_536;
/** Maximum nesting depth of objects and lists. */
const MAX_INPUTS_DEPTH = 32;

/** The inputs of a tool call. */
export type CallInputs = Readonly<Record<string, unknown>>;

/** Inputs as a JSON object of limited size and depth. */
export const inputsSchema = z
  .record(z.string(), z.unknown())
  .refine((inputs) => nests(inputs, MAX_INPUTS_DEPTH), `must nest no deeper than ${MAX_INPUTS_DEPTH} levels`)
  .refine(
    (inputs) => !nests(inputs, MAX_INPUTS_DEPTH) || writeJson(inputs).length <= MAX_INPUTS_CHARACTERS,
    `must be at most ${MAX_INPUTS_CHARACTERS} characters of JSON`,
  );

/** Inputs as sent and stored: JSON text. Only the tool knows their shape. */
export const inputsTextSchema = z
  .string()
  .max(MAX_INPUTS_CHARACTERS)
  .refine((text) => findInputs(text) !== undefined, "must be the JSON of an object");

/**
 * Parses a text of {@link inputsTextSchema}. Equal texts can return the same cached object, so callers must not change
 * the result.
 */
export function parseInputs(text: string): CallInputs {
  return findInputs(text) ?? inputsSchema.parse(parseWellFormed(text));
}

/**
 * Maximum number of cached texts, and maximum number of their characters in total. The cache evicts the oldest texts
 * first.
 */
const MAX_PARSED = 256;
const MAX_PARSED_CHARACTERS = 1024 * 1024;

/** Cache of parsed texts, because each step of a call reads its inputs. */
const parsedTexts = new Map<string, CallInputs>();
let parsedCharacters = 0;

/** Parses the inputs in a text; undefined if the text is invalid. */
function findInputs(text: string): CallInputs | undefined {
  const known = parsedTexts.get(text);
  if (known !== undefined) return known;
  const value = parsed(text);
  if (!inputsSchema.safeParse(value).success) return undefined;
  // Use the parsed value itself, because the schema's output may lack members.
  const inputs = value as CallInputs;
  parsedTexts.set(text, inputs);
  parsedCharacters += text.length;
  for (const oldest of parsedTexts.keys()) {
    if (parsedTexts.size <= MAX_PARSED && parsedCharacters <= MAX_PARSED_CHARACTERS) break;
    parsedTexts.delete(oldest);
    parsedCharacters -= oldest.length;
  }
  return inputs;
}

/** Whether the value is nested at most `levels` deep. Does not read deeper levels. */
function nests(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => nests(inner, levels - 1));
}

function parsed(text: string): unknown {
  try {
    return parseWellFormed(text);
  } catch {
    return undefined;
  }
}
