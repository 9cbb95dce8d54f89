import { notJudging } from "../../actors/judging/judging-setup.js";
import { findLiveFingerprints } from "../../actors/replays/candidates/station-config.js";
import type { ReplayRow } from "../../actors/replays/replay/replay.js";
import { findResource, resources } from "../../actors/resources/resource.table.js";
import { putSet, setRow } from "./pictured-replays.js";
import { memoryRows } from "./turn.js";
import { line, lineId, putLine, putTeam, workspaceId } from "./work.js";

type Rows = ReturnType<typeof memoryRows>;

/** A set of six runs, one for each task from `a` to `f`, at the line's work station. */
export const liveSet = setRow({ lineId, stationId: "sta_work" });

/** Returns the rows of a line and a set, and the fields that finished replays of the live config share. */
export function liveWorld(): { readonly rows: Rows; readonly live: Partial<ReplayRow> } {
  const rows = memoryRows();
  putLine(rows);
  putTeam(rows);
  putSet(rows, liveSet, [..."abcdef"]);
  const config = findLiveFingerprints(rows, workspaceId, liveSet, notJudging);
  if (config === undefined) throw new Error("the station is not there");
  const live: Partial<ReplayRow> = {
    lineId,
    stationId: "sta_work",
    candidate: { id: "cand_live", name: "Live config", kind: "live" },
    state: "finished",
    endedAt: "2026-01-02T00:00:00.000Z",
    ...config,
  };
  return { rows, live };
}

/** Returns the same results for each run of the set, in the notation of `pictured-replays.ts`. */
export function six(results: string): Readonly<Record<string, string>> {
  return Object.fromEntries([..."abcdef"].map((task) => [task, results]));
}

/** Changes the station's prompt, so that the replayed config is no longer the live one. */
export function changePrompt(rows: Rows): void {
  const row = findResource(rows, workspaceId, "line", lineId);
  if (row === undefined) throw new Error("there is no line");
  const stations = line.stations.map((station) => ({ ...station, prompt: "Other words." }));
  resources.put(rows, workspaceId, ["line", lineId], { ...row, fields: { ...line, stations } });
}
