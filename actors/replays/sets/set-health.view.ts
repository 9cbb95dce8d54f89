import { z } from "zod";
import type { Shown } from "../../view.js";
import type { SetHealth } from "../figures/set-health.js";
import { gainSchema, replayStates } from "../reads/replay-schemas.js";

const count = z.int();
const time = z.iso.datetime().nullable();
const interval = z.strictObject({ rate: z.number(), low: z.number(), high: z.number() });
const sampled = {
  tasks: count.describe("The tasks that were scored."),
  few: z.boolean().describe("Whether these are fewer than 5, which tell little."),
};
const look = z.enum(["passed", "failed"]);

/** The schema of a set's health, which shows how reliable the set's figures are. */
export const setHealthSchema = z.strictObject({
  noise: z
    .strictObject({
      replayId: z.string(),
      fingerprint: z.string(),
      repeats: count,
      perRepeat: z.array(z.number().nullable()).describe("Success of the first copies, the second and so on."),
      spread: z.number().describe("The highest of them less the lowest."),
      flippedTasks: z.array(z.string()).describe("Tasks of which copies both succeeded and failed."),
      measuredAt: time,
      noisyInOneCopy: z.boolean(),
      neededRepeats: count.describe("The copies of each run that bring the noise under `minGain`."),
      suggestedRepeats: count.describe("The same, at most 5."),
      ...sampled,
    })
    .nullable()
    .describe("Null until a replay of the live config that copied each run more than once has finished."),
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
    .describe("Null until a replay of the live config over the whole set has finished."),
  judge: z
    .strictObject({
      replayId: z.string(),
      compared: count.describe("Changes that were judged twice, both with a verdict."),
      agreed: count,
      pending: count,
      agreement: z.number().nullable(),
      unstable: z.boolean().describe("Whether agreement is below 0.8."),
    })
    .nullable()
    .describe(
      "Null until a check of the set asked for a second judging. The first baseline of a config checks the set, where that has 5 runs or more.",
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
    .describe("Null until a check of the set asked for a second check, as for `judge`."),
  oracle: z
    .strictObject({
      replayId: z.string(),
      candidateId: z.string(),
      repeats: count,
      state: z.enum(replayStates),
      againstReplayId: z.string(),
      againstState: z.enum([...replayStates, "gone"]),
      answered: count.describe("The runs that it replays: those whose original was accepted or sent back."),
      live: z.number().nullable().describe("Success on these runs; null until both finished, as all that follows."),
      withAnswer: z.number().nullable(),
      gain: gainSchema.nullable(),
      roomToImprove: z.boolean().nullable().describe("Null also while fewer than 5 tasks were scored on both sides."),
    })
    .nullable()
    .describe("Null until the live config was replayed with the answer."),
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
