import { notJudging } from "../../actors/judging/judging-setup.js";
import { findLiveFingerprints } from "../../actors/replays/candidates/station-config.js";
import type { ReplayRow } from "../../actors/replays/replay/replay.js";
import { findResource, resources } from "../../actors/resources/resource.table.js";
import { putSet, setRow } from "./pictured-replays.js";
import { memoryRows } from "./turn.js";
import { line, lineId, putLine, putTeam, workspaceId } from "./work.js";

type Rows = ReturnType<typeof memoryRows>;

/** A set of six runs, one of each task from `a` to `f`, at the work station of the line. */
export const liveSet = setRow({ lineId, stationId: "sta_work" });

/** Rows of a line and a set, and what the rows of finished replays of the live config have. */
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

/** The same results for each run of the set, as a picture. */
export function six(results: string): Readonly<Record<string, string>> {
  return Object.fromEntries([..."abcdef"].map((task) => [task, results]));
}

/** Gives the station another prompt, which is another way of how runs go. */
export function changePrompt(rows: Rows): void {
  const row = findResource(rows, workspaceId, "line", lineId);
  if (row === undefined) throw new Error("there is no line");
  const stations = line.stations.map((station) => ({ ...station, prompt: "Other words." }));
  resources.put(rows, workspaceId, ["line", lineId], { ...row, fields: { ...line, stations } });
}
