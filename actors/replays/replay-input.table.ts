import type { Reading } from "../../storage/store.js";
import type { RunConfig } from "../lines/fingerprint.js";
import type { StationBody } from "../lines/station.js";
import type { RunTools } from "../runs/frozen-tools.js";
import { digestsOfAnswer, type RunAnswer } from "../runs/run-answer.js";
import { indexedTable } from "../tables/indexed-table.js";
import type { RunRefusalCode } from "./run-refusal.js";

/** A run of a replay, as its set had it at the start. */
export interface ReplayEntry {
  /** The entry's place in the set, which is its order. */
  readonly place: number;
  /** The run that is repeated. */
  readonly runId: string;
  readonly taskId: string;
  /** The task's, at the start. */
  readonly title: string;
  /** Why the run cannot be repeated, at the start; its copies are unscored then. Null when it can. */
  readonly refusal: RunRefusalCode | null;
  /** What its copies are told of how the work should have turned out; in a replay with the answer alone. */
  readonly answer?: RunAnswer;
}

/** What a replay froze at its start. Skills are bodies (`tables/blobs.ts`), named by their digests. */
export interface ReplayInputRow {
  readonly replayId: string;
  /** The config that its runs run with. */
  readonly config: RunConfig;
  /** The model that judges, by name, whatever is set up later; null without a judge, and where none was set up. */
  readonly judgeModel: string | null;
  /** The tools of the config as they were at its start, for what a repeated run did not have; absent for none. */
  readonly tools?: RunTools;
  /** The rest of the station block, which affects no config. */
  readonly block: Pick<StationBody, "name" | "passesTo" | "alerts" | "runners">;
  /** `<team key>/<line key>/<station key>` */
  readonly stationAddress: string;
  /** Keys of the stations that its runs may hand over to and that come later in the line. */
  readonly next: readonly string[];
  /** The commands of the live config: only where a command is equal to the live one does it get secrets. */
  readonly live: Pick<RunConfig, "repositories"> & { readonly station: Pick<RunConfig["station"], "check"> };
  /** At most 50, in the order of the set. */
  readonly entries: readonly ReplayEntry[];
  /** Most copies that run at once; null for no limit of its own. */
  readonly concurrency: number | null;
}

/** `[replay]` */
export const replayInputs = indexedTable<ReplayInputRow>("replay-input", {
  order: ["replayId"],
  blobs: ({ config, tools, entries }) => [
    ...config.skills.map(({ digest }) => digest),
    ...(tools === undefined ? [] : [tools.digest]),
    ...entries.flatMap(({ answer }) => (answer === undefined ? [] : digestsOfAnswer(answer))),
  ],
});

/** The input of a replay, which exists as long as the replay. */
export function getReplayInput(reading: Reading, workspaceId: string, replayId: string): ReplayInputRow {
  const input = replayInputs.get(reading, workspaceId, replayId);
  if (input === undefined) throw new Error("a replay without its input");
  return input;
}
