import { z } from "zod";
import type { Shown } from "../../view.js";
import type { SetHealth } from "../figures/set-health.js";
import { gainSchema, replayStates } from "../reads/replay-schemas.js";

const count = z.int();
const time = z.iso.datetime().nullable();
const interval = z.strictObject({ rate: z.number(), low: z.number(), high: z.number() });
const sampled = {
  tasks: count.describe("Number of scored tasks."),
  few: z.boolean().describe("Whether fewer than 5 tasks are scored, which makes the figure unreliable."),
};
const look = z.enum(["passed", "failed"]);

/** The schema of a set's health, which shows how reliable the set's figures are. */
export const setHealthSchema = z.strictObject({
  noise: z
    .strictObject({
      replayId: z.string(),
      fingerprint: z.string(),
      repeats: count,
      perRepeat: z
        .array(z.number().nullable())
        .describe(
          "The success rates of the first copies, of the second copies, and so on; null for copies of which none " +
            "is scored.",
        ),
      spread: z.number().describe("The highest rate in `perRepeat` minus the lowest."),
      flippedTasks: z.array(z.string()).describe("The ids of the tasks with both a succeeded and a failed copy."),
      measuredAt: time,
      noisyInOneCopy: z.boolean(),
      neededRepeats: count.describe("Number of copies of each run that reduces the noise below `minGain`."),
      suggestedRepeats: count.describe("`neededRepeats`, but at most 5."),
      ...sampled,
    })
    .nullable()
    .describe(
      "The variation of success between copies of the live config. Null until a replay of the live config with " +
        "more than one copy of each run has finished, and if fewer than two of its repeats have a scored copy.",
    ),
  saturation: z
    .strictObject({
      replayId: z.string(),
      rate: z.number(),
      interval,
      saturated: z.boolean(),
      measuredAt: time,
      ...sampled,
    })
    .nullable()
    .describe(
      "The success of the live config. Null until a replay of the live config over the whole set, outside a " +
        "search, has finished.",
    ),
  judge: z
    .strictObject({
      replayId: z.string(),
      compared: count.describe("Number of changes that were judged twice, with a verdict both times."),
      agreed: count,
      pending: count,
      agreement: z.number().nullable(),
      unstable: z.boolean().describe("Whether `agreement` is below 0.8."),
    })
    .nullable()
    .describe(
      "How often the judge decides the same way about the same change. Null until a check of the set requested " +
        "a second judging. The first baseline of a config checks the set if the set has 5 runs or more.",
    ),
  checks: z
    .strictObject({
      replayId: z.string(),
      rechecked: count,
      pending: count,
      flaky: z.array(
        z.strictObject({
          taskId: z.string(),
          originalRunId: z.string(),
          runId: z.string(),
          first: look,
          recheck: look,
        }),
      ),
    })
    .nullable()
    .describe(
      "The results of repeated checks of the same changes. Null until a check of the set requested a second " +
        "check.",
    ),
  oracle: z
    .strictObject({
      replayId: z.string(),
      candidateId: z.string(),
      repeats: count,
      state: z.enum(replayStates),
      againstReplayId: z.string(),
      againstState: z.enum([...replayStates, "gone"]),
      answered: count.describe(
        "Number of runs that the replay repeats: those whose original was accepted or sent back.",
      ),
      live: z
        .number()
        .nullable()
        .describe(
          "The success rate of the live config on these runs. Null until both replays have finished, as are " +
            "`withAnswer`, `gain` and `roomToImprove`.",
        ),
      withAnswer: z.number().nullable(),
      gain: gainSchema.nullable(),
      roomToImprove: z
        .boolean()
        .nullable()
        .describe("Whether `gain.verdict` is `better`. Also null while fewer than 5 tasks are scored on both sides."),
    })
    .nullable()
    .describe("The newest replay of the live config whose runs receive the answer. Null until there is one."),
});

export type SetHealthView = Shown<typeof setHealthSchema>;

/** Shows the health in the form of the API. */
export function setHealthView({ noise, saturation, judge, checks, oracle }: SetHealth): SetHealthView {
  return {
    noise,
    saturation,
    judge,
    oracle,
    checks: checks === null ? null : { ...checks, flaky: checks.flaky.flatMap(flakyView) },
  };
}

type Flaky = NonNullable<SetHealth["checks"]>["flaky"][number];

function flakyView({ taskId, originalRunId, runId, first, second }: Flaky) {
  if (runId === null || first === null || second === null || second === "pending") return [];
  return [{ taskId, originalRunId, runId, first, recheck: second }];
}
