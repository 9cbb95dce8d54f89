import type { Reading } from "../../../storage/store.js";
import type { RunConfig } from "../../lines/fingerprint.js";
import type { StationBody } from "../../lines/station.js";
import type { RunTools } from "../../runs/frozen-tools.js";
import { digestsOfAnswer, type RunAnswer } from "../../runs/run-answer.js";
import { indexedTable } from "../../tables/indexed-table.js";
import type { RunRefusalCode } from "../sets/run-refusal.js";

/** A run that a replay repeats, copied from its set at the start. */
export interface ReplayEntry {
  /** The entry's place in the set. Places give the order of entries. */
  readonly place: number;
  /** The original run. */
  readonly runId: string;
  readonly taskId: string;
  /** The task's title at the start. */
  readonly title: string;
  /**
   * Why the run could not be repeated at the start; null if it could be repeated. The copies of a run that cannot be
   * repeated are unscored.
   */
  readonly refusal: RunRefusalCode | null;
  /** The expected result that the run's copies receive; only in a replay with the answer. */
  readonly answer?: RunAnswer;
}

/**
 * The input that a replay stores at its start and never changes. Skills are blobs (`tables/blobs.ts`), referenced by
 * digest.
 */
export interface ReplayInputRow {
  readonly replayId: string;
  /** The config of the replay's runs. */
  readonly config: RunConfig;
  /**
   * The name of the model that judges, fixed at the start. Null if the config has no judge, or if the judge names no
   * model and no default model was configured.
   */
  readonly judgeModel: string | null;
  /**
   * The tools of the config at the start of the replay. A copy uses one of these tools only if its original run did not
   * have that tool. Absent if there are none.
   */
  readonly tools?: RunTools;
  /** The other fields of the station block, which are not in a config. */
  readonly block: Pick<StationBody, "name" | "passesTo" | "alerts" | "runners">;
  /** `<team key>/<line key>/<station key>` */
  readonly stationAddress: string;
  /** Keys of the later stations in the line that the replay's runs may hand over to. */
  readonly next: readonly string[];
  /**
   * The commands of the live config. A command of the replay gets secrets only if the command equals the live command.
   */
  readonly live: Pick<RunConfig, "repositories"> & { readonly station: Pick<RunConfig["station"], "check"> };
  /** At most 50 entries, in the order of the set. */
  readonly entries: readonly ReplayEntry[];
  /** Maximum number of copies that run at once; null for no limit of its own. */
  readonly concurrency: number | null;
}

/** Key: `[replay]` */
export const replayInputs = indexedTable<ReplayInputRow>("replay-input", {
  order: ["replayId"],
  blobs: ({ config, tools, entries }) => [
    ...config.skills.map(({ digest }) => digest),
    ...(tools === undefined ? [] : [tools.digest]),
    ...entries.flatMap(({ answer }) => (answer === undefined ? [] : digestsOfAnswer(answer))),
  ],
});

/** Returns the input of a replay, which exists for as long as the replay. */
export function getReplayInput(reading: Reading, workspaceId: string, replayId: string): ReplayInputRow {
  const input = replayInputs.get(reading, workspaceId, replayId);
  if (input === undefined) throw new Error("a replay without its input");
  return input;
}
