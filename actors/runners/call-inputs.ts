import { z } from "zod";

/** Longest inputs of a call that is asked about, in characters of their JSON. */
const MAX_INPUTS_CHARACTERS = 65_536;
/** Objects and lists in one another, at most. */
const MAX_INPUTS_DEPTH = 32;

/** What a tool is called with. */
export type CallInputs = Readonly<Record<string, unknown>>;

/** Inputs as people and programs write them: a JSON object, bounded. */
export const inputsSchema = z
  .record(z.string(), z.unknown())
  .refine((inputs) => nests(inputs, MAX_INPUTS_DEPTH), `must nest no deeper than ${MAX_INPUTS_DEPTH} levels`)
  .refine(
    (inputs) => !nests(inputs, MAX_INPUTS_DEPTH) || JSON.stringify(inputs).length <= MAX_INPUTS_CHARACTERS,
    `must be at most ${MAX_INPUTS_CHARACTERS} characters of JSON`,
  );

/** Inputs as they travel and are kept: their JSON text, so that nothing on the way has to know their shape. */
export const inputsTextSchema = z
  .string()
  .max(MAX_INPUTS_CHARACTERS)
  .refine((text) => inputsSchema.safeParse(parsed(text)).success, "must be the JSON of an object");

/** The inputs that a text of {@link inputsTextSchema} holds. */
export function parseInputs(text: string): CallInputs {
  return inputsSchema.parse(JSON.parse(text));
}

/** Whether it nests no deeper than so many levels; looks no deeper than that. */
function nests(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => nests(inner, levels - 1));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
