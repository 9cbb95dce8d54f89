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
  .strictObject({
    wins: count.describe("Number of tasks whose change the judge prefers to the seed's change."),
    losses: count.describe("Number of tasks for which the judge prefers the seed's change."),
    ties: count.describe("Number of compared tasks without a preference."),
  })
  .nullable()
  .describe(
    "Number of tasks that the judge found better, worse or equally good, side by side with the seed's replay; " +
      "null for the seed.",
  );

/** A candidate's results on the searched runs. */
export const searchedFiguresSchema = z.strictObject({
  searchScore: share.describe("The success rate on the searched runs, from 0 to 1; null while no task is scored."),
  searchInterval: scoreIntervalSchema,
  searchScored: count.describe("Number of scored copies of searched runs."),
  searchTasks: count.describe("Number of scored searched tasks, on which `searchScore` is based."),
  searchedGain: gainSchema
    .nullable()
    .describe(
      "The gain over the seed on the searched runs, by which the search chooses candidates. In one of three " +
        "searches, the best of many useless candidates is `better` here. Read it together with `heldOutGain`. " +
        "Null for the seed.",
    ),
  searchedPairs: pairs,
  costPerRun: spentSchema
    .nullable()
    .describe(
      "The amount spent per scored copy of the searched runs; null if a cost is unknown or in another currency.",
    ),
});

/** A candidate's results on the held-out runs. */
export const heldOutFiguresSchema = z.strictObject({
  heldOutScore: share.describe("The success rate on the held-out runs, from 0 to 1; null while no task is scored."),
  heldOutInterval: scoreIntervalSchema,
  heldOutScored: count.describe("Number of scored copies of held-out runs."),
  heldOutTasks: count.describe("Number of scored held-out tasks, on which `heldOutScore` is based."),
  heldOutGain: gainSchema
    .nullable()
    .describe(
      "The gain over the seed on the held-out runs, which the search does not choose candidates by. Null until " +
        "the held-out replays have finished, and for the seed.",
    ),
  heldOutPairs: pairs,
  heldOutCost: z
    .strictObject({
      tasks: count.describe("Number of held-out tasks whose cost is known on both sides."),
      chance: z
        .number()
        .describe("The probability, from 0 to 1, that a config with the live config's cost looks at least as cheap."),
      cheaper: z.boolean().describe("Whether `chance` is at most 1/120. Never true with fewer than 7 tasks."),
    })
    .nullable()
    .describe(
      "The comparison with the live config's cost on the held-out runs; null until the costs are known, and for " +
        "the seed.",
    ),
});
