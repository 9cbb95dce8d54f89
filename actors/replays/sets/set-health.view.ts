import { z } from "zod";
import type { Shown } from "../../view.js";
import type { SetHealth } from "../figures/set-health.js";
import { gainSchema, intervalSchema, replayStates } from "../reads/replay-schemas.js";

const count = z.int();
const time = z.iso.datetime().nullable();
const interval = intervalSchema.unwrap();
const sampled = {
  tasks: count.describe("Number of scored tasks."),
  few: z.boolean().describe("Whether fewer than 5 tasks are scored, which makes the figure unreliable."),
};
const look = z.enum(["passed", "failed"]);

/** The schema of a set's health, which shows how reliable the set's figures are. */
export const setHealthSchema = z
  .strictObject({
    noise: z
      .strictObject({
        replayId: z
          .string()
          .describe("The newest finished replay of the live config with more than one copy of each run."),
        fingerprint: z.string().describe("The fingerprint of the live config that was replayed."),
        repeats: count.describe("Number of copies of each run in that replay."),
        perRepeat: z
          .array(z.number().nullable())
          .describe(
            "The success rates of the first copies, of the second copies, and so on; null for copies of which none " +
              "is scored.",
          ),
        spread: z.number().describe("The highest rate in `perRepeat` minus the lowest."),
        flippedTasks: z.array(z.string()).describe("The ids of the tasks with both a succeeded and a failed copy."),
        measuredAt: time.describe("When the measured replay ended, as an RFC 3339 time."),
        noisyInOneCopy: z
          .boolean()
          .describe("Whether one copy of each run is too few: `neededRepeats` is more than 1."),
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
        replayId: z
          .string()
          .describe("The newest finished replay of the live config over the whole set, outside a search."),
        rate: z.number().describe("The success rate of the live config in that replay, from 0 to 1."),
        interval: interval.describe("The success rate with its 95 % interval, bootstrapped over tasks."),
        saturated: z.boolean().describe("Whether `rate` is above 0.95, so that hardly any gain can show."),
        measuredAt: time.describe("When the measured replay ended, as an RFC 3339 time."),
        ...sampled,
      })
      .nullable()
      .describe(
        "The success of the live config. Null until a replay of the live config over the whole set, outside a " +
          "search, has finished.",
      ),
    judge: z
      .strictObject({
        replayId: z.string().describe("The newest finished replay that checks the set."),
        compared: count.describe("Number of changes that were judged twice, with a verdict both times."),
        agreed: count.describe("Number of compared changes with the same verdict both times."),
        pending: count.describe("Number of second judgings that have no verdict yet."),
        agreement: z
          .number()
          .nullable()
          .describe("`agreed` divided by `compared`, from 0 to 1; null while no change is compared."),
        unstable: z.boolean().describe("Whether `agreement` is below 0.8."),
      })
      .nullable()
      .describe(
        "How often the judge decides the same way about the same change. Null until a check of the set requested " +
          "a second judging. The first baseline of a config checks the set if the set has 5 runs or more.",
      ),
    checks: z
      .strictObject({
        replayId: z.string().describe("The newest finished replay that checks the set."),
        rechecked: count.describe("Number of changes that were checked twice, with a result both times."),
        pending: count.describe("Number of second checks that have no result yet."),
        flaky: z
          .array(
            z.strictObject({
              taskId: z.string().describe("The task of the original run (`task_…`)."),
              originalRunId: z.string().describe("The run of the task that the copy repeats."),
              runId: z.string().describe("The replay run whose change was checked twice."),
              first: look.describe("The result of the first check of the change."),
              recheck: look.describe("The result of the second check of the change."),
            }),
          )
          .describe("The changes whose check passed once and failed once."),
      })
      .nullable()
      .describe(
        "The results of repeated checks of the same changes. Null until a check of the set requested a second " +
          "check.",
      ),
    oracle: z
      .strictObject({
        replayId: z.string().describe("The id of the replay with the answer (`rep_…`)."),
        candidateId: z
          .string()
          .describe("The id of the candidate with the answer, which cannot be read as a resource."),
        repeats: count.describe("Number of copies of each run in the replay with the answer."),
        state: z.enum(replayStates).describe("The state of the replay with the answer."),
        againstReplayId: z.string().describe("The replay of the live config that this replay is compared with."),
        againstState: z
          .enum([...replayStates, "gone"])
          .describe("The state of the replay in `againstReplayId`; `gone` if it was removed."),
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
        withAnswer: z
          .number()
          .nullable()
          .describe(
            "The success rate on these runs when they receive the answer; null until both replays have finished.",
          ),
        gain: gainSchema
          .nullable()
          .describe("The gain of the replay with the answer over the live config; null until both have finished."),
        roomToImprove: z
          .boolean()
          .nullable()
          .describe("Whether `gain.verdict` is `better`. Also null while fewer than 5 tasks are scored on both sides."),
      })
      .nullable()
      .describe("The newest replay of the live config whose runs receive the answer. Null until there is one."),
  })
  .describe("How reliable the set's figures are for the station's current live config.");

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
