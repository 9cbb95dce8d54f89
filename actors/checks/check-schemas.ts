import { z } from "zod";
import { gainSchema, intervalSchema, replayStates } from "../replays/reads/replay-schemas.js";
import { spentSchema } from "../runners/protocol.js";
import type { Shown } from "../view.js";
import { undecidedReasons, verdicts } from "./verdict.js";

const ABOUT_ID = "The id of the check (`check_…`).";
const ABOUT_STATION_ID = "The id of the station that the change is planned for.";
const ABOUT_STATION_KEY = "The key of the station in its line.";
const ABOUT_CREATED_AT = "When the check started, as an RFC 3339 time.";

/** The station fields for which a check uses the live values, in the order of `keptLive`. */
export const liveFields = ["check", "judge", "diffs", "runners"] as const;

const count = z.int();
const time = z.iso.datetime();
const result = z.enum(["succeeded", "failed", "unscored"]).nullable();

const reference = z
  .strictObject({
    commit: z.string().nullable().describe("The commit of the planned change: 7 to 64 hex digits; null if not given."),
    pullRequest: count.nullable().describe("The number of the change's pull request; null if not given."),
  })
  .describe("The commit and the pull request that the check's request named.");
const attempt = count.describe(
  "The number of this check among the checks of the same change against the same live config, from 1.",
);
const verdict = z
  .enum(verdicts)
  .describe(
    "`failed` is final as soon as more tasks regressed than `threshold.mostRegressions` allows, even if replays " +
      "are still running. Only `running` can change.",
  );
const undecidedBecause = z
  .enum(undecidedReasons)
  .nullable()
  .describe(
    "The reason for the verdict `undecided`; null for other verdicts. `too-few-scored`: fewer than half of the tasks " +
      "are scored on both sides.",
  );
const replayUrl = z
  .string()
  .nullable()
  .describe("The URL of the check's replay in the web app; null if there is none.");

const side = z.strictObject({
  state: z.enum(replayStates).nullable().describe("The replay's state; null if the replay was removed."),
  entries: count.describe("Number of copies that the replay makes in total."),
  scored: count.describe("Number of scored copies."),
  succeeded: count.describe("Number of copies that succeeded."),
  successRate: z
    .number()
    .nullable()
    .describe("The success rate, from 0 to 1, averaged over the scored tasks; null while no task is scored."),
  interval: intervalSchema.describe(
    "The success rate with its 95 % interval, bootstrapped over tasks; null while no task is scored.",
  ),
  tasksScored: count.describe("Number of tasks with at least one scored copy."),
  spent: spentSchema.describe("The costs that the replay's copies reported, in the ceiling's currency."),
});

const regression = z.strictObject({
  taskId: z.string().describe("The task that regressed (`task_…`)."),
  originalRunId: z
    .string()
    .describe("The task's run with the largest loss; of runs with equal losses, the first in the set."),
  title: z.string().describe("The title of the task."),
  candidate: z
    .array(result)
    .describe("The results of the copies under the change, by run in the order of the set, then by copy."),
  baseline: z.array(result).describe("The results of the copies under the live config, in the same order."),
  scoreDelta: z
    .number()
    .describe("The task's success rate under the change minus its success rate under the live config."),
  reasons: z
    .array(
      z.strictObject({
        code: z.string().describe("The reason for programs, such as `check-failed`, `judge-failed` or `asked`."),
        detail: z
          .string()
          .describe("The reason for people: a reason of the judge, the end of the check's output, or one sentence."),
      }),
    )
    .describe("Why copies under the change failed, without duplicates: at most 5 reasons of at most 500 bytes each."),
});

const threshold = z.strictObject({
  mostRegressions: count.describe("Maximum number of tasks that may regress in a passed check."),
  minGain: z.number().describe("The smallest gain in success, from 0 to 1, that the line counts as real."),
  ceiling: spentSchema.describe("The ceiling of each replay that the check started."),
  unpricedRun: spentSchema
    .nullable()
    .describe(
      "The amount that counts against the ceiling for a run that reports no cost in the ceiling's currency. " +
        "Null if the replay was removed.",
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
    .describe(
      "`false-failure` is always present, with its `chance`. The other kinds are the warnings of a replay start.",
    ),
  text: z.string().describe("The warning in one or two sentences, for people."),
  chance: z
    .number()
    .nullable()
    .describe(
      "The probability, from 0 to 1, that a change without any effect fails this check, estimated from how " +
        "much copies of the same run differ under the live config. Null if it was not measured, and for other " +
        "warnings.",
    ),
});

/** A complete check, as the endpoint for a single check returns it. */
export const replayCheckSchema = z
  .strictObject({
    id: z.string().describe(ABOUT_ID),
    teamId: z.string().describe("The team that the line belongs to."),
    lineId: z.string().describe("The line that the change is planned for (`line_…`)."),
    stationId: z.string().describe(ABOUT_STATION_ID),
    stationKey: z.string().describe(ABOUT_STATION_KEY),
    setId: z.string().describe("The replay set that guarded the station's changes when the check started."),
    setName: z.string().nullable().describe("The set's name; null if the set was deleted."),
    setVersion: count.describe("The version of the set that the check replays."),
    candidateId: z.string().describe("The planned config's candidate (`cand_…`); it cannot be read as a resource."),
    replayId: z.string().describe("The replay of the planned change (`rep_…`)."),
    baselineReplayId: z
      .string()
      .nullable()
      .describe("The replay of the live config that the change is compared with; null until it is known."),
    attempt,
    reference,
    liveFingerprint: z.string().describe("The fingerprint of the live config when the check started."),
    candidateFingerprint: z.string().describe("The fingerprint of the planned config."),
    keptLive: z
      .array(z.enum(liveFields))
      .describe("The fields that the plan changed but that keep their live values in the check."),
    threshold: threshold.describe("The limits of the live line when the check started."),
    repeats: count.describe("Number of copies of each run."),
    gain: gainSchema
      .nullable()
      .describe(
        "The change's gain over the live config. The gain does not affect the verdict. Null if a replay was " +
          "removed, and while no task is scored on both sides.",
      ),
    verdict,
    undecidedBecause,
    tasks: count.describe("Number of tasks that the check replays."),
    compared: count.describe("Number of tasks that are scored on both sides."),
    waiting: z
      .strictObject({
        for: z
          .enum(["model", "runner"])
          .describe("`model`: the model that judges does not respond. `runner`: no suitable runner is free."),
        since: time.describe("When the wait began, as an RFC 3339 time."),
      })
      .nullable()
      .describe(
        "What a running check waits for, as in `progress.waiting` of its replays. Null if one of its replays " +
          "makes progress, and after the check has ended. `since` is when the model stopped answering or, for " +
          "`runner`, when the run that waits longest was queued. Streams never report `runner`.",
      ),
    candidate: side.describe("The results of the copies under the planned change."),
    baseline: side.describe("The results of the copies under the live config."),
    regressions: z.array(regression).describe("The tasks that regressed, largest loss first."),
    warnings: z.array(warning).describe("How reliable the verdict is, and what the ceiling does not cover."),
    replayUrl,
    reused: z
      .boolean()
      .describe(
        "Whether a request to start a check returned an existing check of the same change. Always false on a read.",
      ),
    createdAt: time.describe(ABOUT_CREATED_AT),
    decidedAt: time.nullable().describe("The time when the verdict became final; null while the verdict is `running`."),
  })
  .meta({ title: "replay check", description: "A replay check of a planned change, with its verdict and both sides." });

/** A check in a list. */
export const listedCheckSchema = z.strictObject({
  id: z.string().describe(ABOUT_ID),
  stationId: z.string().describe(ABOUT_STATION_ID),
  stationKey: z.string().describe(ABOUT_STATION_KEY),
  verdict,
  undecidedBecause,
  regressions: count.describe("The number of tasks that regressed."),
  attempt,
  reference,
  createdAt: time.describe(ABOUT_CREATED_AT),
  replayUrl,
});

export type ReplayCheckView = Shown<typeof replayCheckSchema>;
export type CheckWarningView = ReplayCheckView["warnings"][number];
/** The result of one side of a check. */
export type SideResult = Omit<ReplayCheckView["candidate"], "state">;
/** A task that regressed. */
export type RegressedTask = ReplayCheckView["regressions"][number];
