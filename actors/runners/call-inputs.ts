import { z } from "zod";

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
    (inputs) => !nests(inputs, MAX_INPUTS_DEPTH) || JSON.stringify(inputs).length <= MAX_INPUTS_CHARACTERS,
    `must be at most ${MAX_INPUTS_CHARACTERS} characters of JSON`,
  );

/** Inputs as they are sent and stored: their JSON text, whose shape only the tool knows. */
export const inputsTextSchema = z
  .string()
  .max(MAX_INPUTS_CHARACTERS)
  .refine((text) => inputsSchema.safeParse(parsed(text)).success, "must be the JSON of an object");

/** Parses a text of {@link inputsTextSchema}. */
export function parseInputs(text: string): CallInputs {
  return inputsSchema.parse(JSON.parse(text));
}

/** Whether the value nests at most `levels` deep; does not look deeper. */
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
