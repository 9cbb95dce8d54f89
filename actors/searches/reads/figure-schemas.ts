import { z } from "zod";
import { gainSchema, intervalSchema } from "../../replays/reads/replay-schemas.js";
import { spentSchema } from "../../runners/protocol.js";

const count = z.int();
const share = z.number().nullable();

/** The interval of a score. */
export const scoreIntervalSchema = intervalSchema.describe(
  "The score with its 95 % interval; null while no task is scored.",
);

const pairs = z
  .strictObject({ wins: count, losses: count, ties: count })
  .nullable()
  .describe("Tasks that the judge found better, worse or as good, side by side with the seed's replay.");

/** A candidate's results on the searched runs. */
export const searchedFiguresSchema = z.strictObject({
  searchScore: share.describe("Success on the searched runs, from 0 to 1."),
  searchInterval: scoreIntervalSchema,
  searchScored: count.describe("Copies of searched runs that are scored."),
  searchTasks: count.describe("Searched tasks that are scored: those that `searchScore` is of."),
  searchedGain: gainSchema
    .nullable()
    .describe(
      "Over the seed, on the searched runs: what the candidate was chosen by, so that the best of many useless ones is " +
        "`better` here in every third search. Read it with `heldOutGain`. Null for the seed.",
    ),
  searchedPairs: pairs,
  costPerRun: spentSchema
    .nullable()
    .describe("Spent for each scored copy of the searched runs; null while any is unpriced or in another currency."),
});

/** A candidate's results on the held-out runs. */
export const heldOutFiguresSchema = z.strictObject({
  heldOutScore: share,
  heldOutInterval: scoreIntervalSchema,
  heldOutScored: count.describe("Copies of held-out runs that are scored."),
  heldOutTasks: count.describe("Held-out tasks that are scored."),
  heldOutGain: gainSchema
    .nullable()
    .describe("Over the seed, on runs that nothing was chosen by; null until it was held out, and for the seed."),
  heldOutPairs: pairs,
  heldOutCost: z
    .strictObject({
      tasks: count.describe("Held-out tasks whose cost is known on both sides."),
      chance: z.number().describe("How likely a config that costs as much as the live one is to look as cheap."),
      cheaper: z.boolean().describe("Whether that is 1 in 120 at most; with under 7 tasks it never is."),
    })
    .nullable()
    .describe("Cost beside the live config's on held-out runs; null until it is known, and for the seed."),
});
