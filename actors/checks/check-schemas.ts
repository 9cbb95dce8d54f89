import { z } from "zod";
import { gainSchema, intervalSchema, replayStates } from "../replays/reads/replay-schemas.js";
import { spentSchema } from "../runners/protocol.js";
import type { Shown } from "../view.js";
import { undecidedReasons, verdicts } from "./verdict.js";

/** The station fields for which a check uses the live values, in the order of `keptLive`. */
export const liveFields = ["check", "judge", "diffs", "runners"] as const;

const count = z.int();
const time = z.iso.datetime();
const result = z.enum(["succeeded", "failed", "unscored"]).nullable();

const reference = z.strictObject({ commit: z.string().nullable(), pullRequest: count.nullable() });
const verdict = z
  .enum(verdicts)
  .describe("`failed` as soon as more tasks regressed than may, while replays go on. Only `running` changes.");
const undecidedBecause = z.enum(undecidedReasons).nullable().describe("Null unless undecided.");
const replayUrl = z.string().nullable().describe("The check's replay in the web app; null without one.");

const side = z.strictObject({
  state: z.enum(replayStates).nullable().describe("The replay's state; null once it is gone."),
  entries: count.describe("Copies; and of these the scored, and those that succeeded."),
  scored: count,
  succeeded: count,
  successRate: z.number().nullable(),
  interval: intervalSchema,
  tasksScored: count,
  spent: spentSchema.describe("What its copies reported, in the ceiling's currency."),
});

const regression = z.strictObject({
  taskId: z.string(),
  originalRunId: z.string().describe("The task's run that lost most; of equal ones the earlier in the set."),
  title: z.string(),
  candidate: z
    .array(result)
    .describe("The results of each side's copies, by run in the order of the set, then by copy."),
  baseline: z.array(result),
  scoreDelta: z.number().describe("The change's share of success less the live config's."),
  reasons: z
    .array(z.strictObject({ code: z.string(), detail: z.string() }))
    .describe("Why copies under the change failed, each once: at most 5, of 500 bytes each."),
});

const threshold = z.strictObject({
  mostRegressions: count,
  minGain: z.number(),
  ceiling: spentSchema.describe("Of each replay that the check started."),
  unpricedRun: spentSchema
    .nullable()
    .describe(
      "What a run counts against the ceiling that reports no cost in its currency. Null once the replay is gone.",
    ),
});

/** The kinds of warnings that a check shows besides its verdict. */
export const checkWarningKinds = [
  "false-failure",
  "judging-not-set-up",
  "judging-outside-ceiling",
  "other-currency",
] as const;

const warning = z.strictObject({
  kind: z
    .enum(checkWarningKinds)
    .describe("`false-failure` is always there, with its `chance`. The others are those of starting a replay."),
  text: z.string(),
  chance: z
    .number()
    .nullable()
    .describe(
      "The chance, from 0 to 1, that a change that changes nothing fails this check, by how much copies of one run of " +
        "the live config differ. Null where that was not measured, and in other warnings.",
    ),
});

/** A complete check, as the endpoint for a single check returns it. */
export const replayCheckSchema = z
  .strictObject({
    id: z.string(),
    teamId: z.string(),
    lineId: z.string(),
    stationId: z.string(),
    stationKey: z.string(),
    setId: z.string().describe("The set that guarded the station's changes."),
    setName: z.string().nullable().describe("Null once the set is gone."),
    setVersion: count.describe("The version of the set that was replayed."),
    candidateId: z.string(),
    replayId: z.string(),
    baselineReplayId: z.string().nullable().describe("The replay of the live config that it is compared with."),
    attempt: count.describe("Counts checks of the same change against the same live config, from 1."),
    reference,
    liveFingerprint: z.string(),
    candidateFingerprint: z.string(),
    keptLive: z.array(z.enum(liveFields)).describe("What the plan changed and the check kept as it is live."),
    threshold: threshold.describe("From the live line when the check started."),
    repeats: count.describe("Copies of each run."),
    gain: gainSchema
      .nullable()
      .describe("It does not decide. Null once a replay is gone, and while no task is scored on both sides."),
    verdict,
    undecidedBecause,
    tasks: count.describe("The tasks that it replays."),
    compared: count.describe("Those scored on both sides."),
    waiting: z
      .strictObject({ for: z.enum(["model", "runner"]), since: time })
      .nullable()
      .describe(
        "What it waits for while it runs, as `progress.waiting` of its replays has it; null while one of them goes on. " +
          "`since`: when the model ceased to answer; of `runner`, when the run was queued that waits longest. Streams do " +
          "not say `runner`.",
      ),
    candidate: side,
    baseline: side,
    regressions: z.array(regression).describe("The largest loss first."),
    warnings: z.array(warning),
    replayUrl,
    reused: z.boolean().describe("Whether a start was answered with a check that the change had. False on a read."),
    createdAt: time,
    decidedAt: time.nullable().describe("When its verdict was final."),
  })
  .meta({ title: "replay check" });

/** A check in a list. */
export const listedCheckSchema = z.strictObject({
  id: z.string(),
  stationId: z.string(),
  stationKey: z.string(),
  verdict,
  undecidedBecause,
  regressions: count.describe("The number of tasks that regressed."),
  attempt: count,
  reference,
  createdAt: time,
  replayUrl,
});

export type ReplayCheckView = Shown<typeof replayCheckSchema>;
export type CheckWarningView = ReplayCheckView["warnings"][number];
/** The result of one side of a check. */
export type SideResult = Omit<ReplayCheckView["candidate"], "state">;
/** A task that regressed. */
export type RegressedTask = ReplayCheckView["regressions"][number];
