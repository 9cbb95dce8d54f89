import { z } from "zod";
import { objectives } from "../../actors/searches/rules/objective.js";

/**
 * Body schemas of estimates and starts. They check only the form. The limits are checked with the other rules
 * (`actors/searches/starting/refuse-terms.ts`), after the checks for missing objects and for conflicts.
 */

/** The JSON schema of the OpenAPI document. */
interface Documented {
  readonly jsonSchema: { type?: unknown; enum?: unknown };
}

/** A number that the document describes as an integer from 1 to `most`. */
function countTo(most: number, description: string) {
  const override = ({ jsonSchema }: Documented): void => {
    jsonSchema.type = "integer";
  };
  return z.number("must be a number").meta({ description, minimum: 1, maximum: most, override });
}

/** A nullable text that the document describes as one of these texts. */
export function oneOf(texts: readonly string[], description: string) {
  const override = ({ jsonSchema }: Documented): void => {
    jsonSchema.enum = [...texts, null];
  };
  return z.string("must be a text").nullable().default(null).meta({ description, override });
}

export const setId = z
  .string("must be a text")
  .describe("A replay set of the station, with runs of at least 5 different tasks.");

export const budget = z.strictObject({
  iterations: countTo(10, "The most times that its agent runs."),
  perIteration: countTo(5, "The most candidates that each of its runs may propose."),
  ceiling: z.strictObject({
    amount: z.number("must be a number").meta({
      description: "The most that the whole search may spend: above 0, and 0.01 for each of its replay runs.",
      maximum: 1_000,
    }),
    currency: z.string("must be a text").describe("ISO 4217, in capitals."),
  }),
  concurrency: countTo(10, "Copies of its replays that run at once.").default(4),
  repeats: countTo(5, "Copies of each run, in each of its replays.").default(1),
});

export const objective = oneOf(
  objectives,
  "`cost` is of those that succeed as often as the live config. Left out or null it is `cost` when the live config succeeds " +
    "on more than 95 % of the set, else `success`.",
);

export const exampleBudget = { iterations: 4, perIteration: 3, ceiling: { amount: 20, currency: "EUR" } };
