import { z } from "zod";
import type { Reading } from "../../../storage/store.js";
import { findKeeping } from "../../archives/archive.queries.js";
import { DEFAULT_MIN_GAIN } from "../../lines/line.js";
import { boundMoney } from "../../money.js";
import { taskOutcomes } from "../../run-facts/run-outcome.table.js";
import { spentSchema } from "../../runners/protocol.js";
import { listBases, runInputs } from "../../runs/run-input.table.js";
import { defineView, type Shown } from "../../view.js";
import type { SetHealth } from "../figures/set-health.js";
import { composeRuns } from "./composition.js";
import { type ReplayEntryRow, type ReplaySetRow, replaySetFields } from "./replay-set.js";
import { replayEntries, replaySets } from "./replay-set.table.js";
import { findPastRun, listSetsOfRun, type PastRun } from "./replayable-run.js";
import { type RunRefusalCode, refuseRun, runRefusals, type StationNow } from "./run-refusal.js";
import { setHealthSchema, setHealthView } from "./set-health.view.js";

const refusalCodes = Object.keys(runRefusals) as [RunRefusalCode, ...RunRefusalCode[]];
const time = z.iso.datetime();
const outcome = z
  .enum(taskOutcomes)
  .describe(
    "The outcome of the run in its task. `accepted`: its change stayed until the task was done. `sent-back`: a later " +
      "station returned the task. `asked`: the run asked a person. `failed`: the run failed. `other` includes a run " +
      "whose outcome is not known yet.",
  );
const count = z.int();

/** The fields that a set and the list of a station's runs show for a run. */
const runShape = {
  runId: z.string().describe("The id of the ended run (`run_…`)."),
  taskId: z.string().describe("The task of the run (`task_…`)."),
  title: z.string().describe("The title of the task; empty if the run is no longer stored."),
  replayable: z.boolean().describe("Whether replays can repeat the run."),
  refusal: z
    .strictObject({
      code: z.enum(refusalCodes).describe("Why the run cannot be repeated, for programs."),
      reason: z.string().describe("The explanation of `code` in one sentence, for people."),
    })
    .nullable()
    .describe("Why replays cannot repeat the run; null if they can."),
  outcome,
  origin: z
    .string()
    .nullable()
    .describe("The origin of the task: `person`, `station`, or the key of an integration; null if unknown."),
  endedAt: time.nullable().describe("When the run ended, as an RFC 3339 time; null if it is no longer stored."),
};

const entrySchema = z.strictObject({
  ...runShape,
  archive: z
    .enum(["pending", "kept"])
    .nullable()
    .describe(
      "Whether the service stores the commits that the run started from. `kept`: the commits are stored for " +
        "the set. `pending`: the service looks for a runner that has the commits, for up to 7 days. Null while a " +
        "branch of the repository has the commits, and for a run without commits.",
    ),
  addedAt: time.describe("When the run was added to the set, as an RFC 3339 time."),
});

/** An ended run of a station in lists. */
export const replayableRunSchema = z
  .strictObject({
    ...runShape,
    inSet: z
      .array(
        z.strictObject({
          id: z.string().describe("The id of a replay set that contains the run."),
          name: z.string().describe("The current name of that replay set."),
        }),
      )
      .describe("The replay sets that contain the run."),
    spent: spentSchema.nullable().describe("The cost that the run reported; null if it reported none."),
    steps: count.describe("Number of steps that the run reported."),
    ms: count
      .nullable()
      .describe(
        "The time from the start of the run's agent to the end of the run, in milliseconds; null if the agent did " +
          "not start.",
      ),
    fingerprint: z.string().describe("The fingerprint of the run's config."),
  })
  .meta({ title: "replayable-run", description: "An ended run of a station, and whether replays can repeat it." });

const compositionSchema = z.strictObject({
  outcomes: z
    .array(
      z.strictObject({
        outcome: z.enum(taskOutcomes).describe("An outcome that a run can have in its task."),
        count: count.describe("Number of runs in the set with this outcome."),
      }),
    )
    .describe("The number of runs with each outcome: all five outcomes, always in the same order."),
  origins: z
    .array(
      z.strictObject({
        origin: z
          .string()
          .describe("The origin of the tasks: `person`, `station`, the key of an integration, or `unknown`."),
        count: count.describe("Number of runs in the set with this origin."),
      }),
    )
    .describe("The number of runs with each origin, largest number first."),
  oldest: time.nullable().describe("The earliest end of a run in the set; null while no end is known."),
  median: time.nullable().describe("The median of the ends of the set's runs; null while no end is known."),
  newest: time.nullable().describe("The latest end of a run in the set; null while no end is known."),
  balanceWarning: z
    .strictObject({
      dominant: z.enum(taskOutcomes).describe("The outcome that most runs of the set have."),
      count: count.describe("Number of runs in the set with the dominant outcome."),
      entries: count.describe("Number of runs in the whole set."),
    })
    .nullable()
    .describe(
      "Set if one outcome other than `other` covers more than two thirds of the runs, in a set of 6 runs or " +
        "more; otherwise null.",
    ),
});

const { guardsChanges, ...named } = replaySetFields.shape;

/** A replay set with its runs. */
export const replaySetSchema = z
  .strictObject({
    ...named,
    stationLeft: z.boolean().describe("Whether the station was removed from its line."),
    entries: z.array(entrySchema).describe("The runs of the set, in the order of addition."),
    guardsChanges,
    health: setHealthSchema,
    minGain: z
      .number()
      .describe("The smallest gain that counts as real: `minGain` in the line's `replayCheck`, or 0.05 without one."),
    composition: compositionSchema.describe("The outcomes, origins and ages of the set's runs."),
  })
  .meta({ title: "replay-set", description: "A replay set with its runs, its health and its composition." });

type ReplaySetView = Shown<typeof replaySetSchema>;
type EntryView = Shown<typeof entrySchema>;
type ReplayableRunView = Shown<typeof replayableRunSchema>;

/** The context in which runs are shown: the station of their set or list. */
export interface RunsPlace {
  readonly workspaceId: string;
  readonly station: StationNow;
}

/** Lists the current entries of a set, in the order of addition. */
export function listEntries(reading: Reading, workspaceId: string, { id }: ReplaySetRow): readonly ReplayEntryRow[] {
  return replayEntries.list(reading, workspaceId, [id]);
}

interface SetParts {
  readonly entries: readonly EntryView[];
  readonly health: SetHealth;
}

const showSet = defineView<ReplaySetRow, Pick<RunsPlace, "station"> & SetParts>()(replaySetSchema, {
  stationLeft: (_set, { station: { station } }) => station === undefined,
  entries: (_set, { entries }) => entries,
  health: (_set, { health }) => setHealthView(health),
  minGain: (_set, { station: { line } }) => line?.replayCheck?.minGain ?? DEFAULT_MIN_GAIN,
  composition: (_set, { entries }) => composeRuns(entries),
});

/** Shows a set with the views of its runs, and its health. */
export function replaySetView(set: ReplaySetRow, sources: Pick<RunsPlace, "station"> & SetParts): ReplaySetView {
  return showSet(set, sources);
}

/**
 * Returns a list with the view of an ended run, including the sets that contain the run. The list is empty if the run
 * is no longer stored.
 */
export function replayableRunView(reading: Reading, place: RunsPlace, runId: string): ReplayableRunView[] {
  const { workspaceId } = place;
  const past = findPastRun(reading, workspaceId, runId);
  if (past === undefined) return [];
  const { spent, steps, fingerprint, startedAt, endedAt } = past.run;
  const inSet = listSetsOfRun(reading, workspaceId, runId).flatMap((setId) => {
    const set = replaySets.get(reading, workspaceId, setId);
    return set === undefined ? [] : [{ id: set.id, name: set.name }];
  });
  const ms = startedAt === null || endedAt === null ? null : Date.parse(endedAt) - Date.parse(startedAt);
  return [{ ...runView(reading, place, past), inSet, spent: boundMoney(spent), steps, ms, fingerprint }];
}

/** Shows the current state of a set's run. */
export function entryView(reading: Reading, place: RunsPlace, entry: ReplayEntryRow): EntryView {
  const { runId, taskId, addedAt } = entry;
  const past = findPastRun(reading, place.workspaceId, runId);
  if (past !== undefined) {
    const input = runInputs.get(reading, place.workspaceId, runId);
    const commits = input === undefined ? [] : listBases(input);
    const archive = findKeeping(reading, place.workspaceId, commits);
    return { ...runView(reading, place, past), archive, addedAt };
  }
  const lost = { replayable: false, refusal: { code: "no-input", reason: runRefusals["no-input"] } } as const;
  return { runId, taskId, title: "", ...lost, outcome: "other", origin: null, endedAt: null, archive: null, addedAt };
}

function runView(reading: Reading, { workspaceId, station }: RunsPlace, past: PastRun) {
  const { run, task, outcome: turnedOut, origin } = past;
  const code = refuseRun(reading, workspaceId, run, station);
  return {
    runId: run.id,
    taskId: task.id,
    title: task.title,
    replayable: code === null,
    refusal: code === null ? null : { code, reason: runRefusals[code] },
    outcome: turnedOut,
    origin,
    endedAt: run.endedAt,
  };
}
