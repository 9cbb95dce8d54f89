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

/** A number that the document describes as an integer from 1 to `max`. */
function countTo(max: number, description: string) {
  const override = ({ jsonSchema }: Documented): void => {
    jsonSchema.type = "integer";
  };
  return z.number("must be a number").meta({ description, minimum: 1, maximum: max, override });
}

/** A nullable text that the document describes as one of `texts`. */
export function toTextChoice(texts: readonly string[], description: string) {
  const override = ({ jsonSchema }: Documented): void => {
    jsonSchema.enum = [...texts, null];
  };
  return z.string("must be a text").nullable().default(null).meta({ description, override });
}

export const setId = z
  .string("must be a text")
  .describe("A replay set of the station. The set must have runs of at least 5 different tasks.");

export const budget = z.strictObject({
  iterations: countTo(10, "The maximum number of runs of the search's agent."),
  perIteration: countTo(5, "The maximum number of candidates that each run of the agent may propose."),
  ceiling: z.strictObject({
    amount: z.number("must be a number").meta({
      description:
        "The maximum amount that the search may spend: more than 0, with at least 0.01 for each of its replay " +
        "runs.",
      maximum: 1_000,
    }),
    currency: z.string("must be a text").describe("The ISO 4217 code, in capital letters."),
  }),
  concurrency: countTo(10, "Number of replay copies that run at the same time.").default(4),
  repeats: countTo(5, "Number of copies of each run in each replay.").default(1),
});

export const objective = toTextChoice(
  objectives,
  "`success`: find configs that succeed more often. `cost`: find configs that succeed as often as the live " +
    "config, but cost less. If it is absent or null, the objective is `cost` when the live config succeeds on more " +
    "than 95 % of the set, and `success` otherwise.",
);

export const exampleBudget = { iterations: 4, perIteration: 3, ceiling: { amount: 20, currency: "EUR" } };
