import { z } from "zod";
import { writeJson } from "../exact-json.js";
import { parseWellFormed } from "../well-formed.js";

/** Longest inputs of a call that needs approval, in characters of JSON. */
const MAX_INPUTS_CHARACTERS = 65_536;
/** Deepest nesting of objects and lists. */
const MAX_INPUTS_DEPTH = 32;

/** The inputs of a tool's call. */
export type CallInputs = Readonly<Record<string, unknown>>;

/** Inputs as a JSON object, of limited size and depth. */
export const inputsSchema = z
  .record(z.string(), z.unknown())
  .refine((inputs) => nests(inputs, MAX_INPUTS_DEPTH), `must nest no deeper than ${MAX_INPUTS_DEPTH} levels`)
  .refine(
    (inputs) => !nests(inputs, MAX_INPUTS_DEPTH) || writeJson(inputs).length <= MAX_INPUTS_CHARACTERS,
    `must be at most ${MAX_INPUTS_CHARACTERS} characters of JSON`,
  );

/** Inputs as they are sent and stored: their JSON text, whose shape only the tool knows. */
export const inputsTextSchema = z
  .string()
  .max(MAX_INPUTS_CHARACTERS)
  .refine((text) => findInputs(text) !== undefined, "must be the JSON of an object");

/** Parses a text of {@link inputsTextSchema}. Equal texts may be the same object: nobody changes it. */
export function parseInputs(text: string): CallInputs {
  return findInputs(text) ?? inputsSchema.parse(parseWellFormed(text));
}

/** Texts whose inputs are held in memory, and characters of them; the oldest go first. */
const MAX_PARSED = 256;
const MAX_PARSED_CHARACTERS = 1024 * 1024;

/** What was parsed last: the inputs of a call are read at each of its steps. */
const parsedTexts = new Map<string, CallInputs>();
let parsedCharacters = 0;

/** The inputs of a text; undefined for one that holds none. */
function findInputs(text: string): CallInputs | undefined {
  const known = parsedTexts.get(text);
  if (known !== undefined) return known;
  const value = parsed(text);
  if (!inputsSchema.safeParse(value).success) return undefined;
  // The value itself: what the schema returns lacks members that it passes over.
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

/** Whether the value nests at most `levels` deep; does not look deeper. */
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
