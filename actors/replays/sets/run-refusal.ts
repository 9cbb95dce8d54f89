import type { Reading } from "../../../storage/store.js";
import { findRefusal } from "../../archives/archive.queries.js";
import type { LineFields } from "../../lines/line.js";
import { findLine } from "../../lines/line.queries.js";
import type { Station } from "../../lines/station.js";
import type { RunRow } from "../../runs/run.js";
import { listBases, runInputs } from "../../runs/run-input.table.js";

/** Why a run cannot be repeated: one sentence per code. */
export const runRefusals = {
  "other-station": "The run is from a different station than the set.",
  "not-ended": "The run has not ended.",
  "reviewing-station": "Runs at a reviewing station are not replayed.",
  "no-input": "The run ended before its input was stored.",
  "repository-gone": "The line no longer has a repository that the run started from.",
  "no-base": "The commit that the run started from is unknown.",
  "commit-gone": "The commit that the run started from no longer exists.",
  "archive-too-large": "The commit that the run started from is too large to archive.",
  "archives-full": "The workspace's archives had no space for the commit that the run started from.",
  "in-set": "The run is already in the set.",
} as const;

export type RunRefusalCode = keyof typeof runRefusals;

/** A station, by the id of its line and its own id. */
export interface StationPlace {
  readonly lineId: string;
  readonly stationId: string;
}

/** The current state of a station in its line. */
export interface StationNow extends StationPlace {
  /** Undefined if the line is gone. */
  readonly line: LineFields | undefined;
  /** Undefined if the station left its line. */
  readonly station: Station | undefined;
}

/** Reads the current state of a station. One read is enough for all runs in a request. */
export function findStationNow(reading: Reading, workspaceId: string, { lineId, stationId }: StationPlace): StationNow {
  const line = findLine(reading, workspaceId, lineId);
  return { lineId, stationId, line, station: line?.stations.find(({ id }) => id === stationId) };
}

/**
 * Returns why the run cannot be repeated at the station; null if it can be repeated. Does not check whether the run is
 * in a set.
 */
export function refuseRun(
  reading: Reading,
  workspaceId: string,
  run: Pick<RunRow, "id" | "lineId" | "stationId" | "state">,
  { lineId, stationId, line, station }: StationNow,
): RunRefusalCode | null {
  if (run.lineId !== lineId || run.stationId !== stationId) return "other-station";
  if (run.state !== "ended") return "not-ended";
  if (station?.kind === "review") return "reviewing-station";
  const input = runInputs.get(reading, workspaceId, run.id);
  if (input === undefined || input.beginning === null || input.claimed === null) return "no-input";
  const { checkouts } = input.beginning;
  const known = line?.repositories.map(({ name }) => name);
  if (known !== undefined && checkouts.some(({ repository }) => !known.includes(repository))) return "repository-gone";
  if (checkouts.some(({ base }) => base === null)) return "no-base";
  return findRefusal(reading, workspaceId, listBases(input));
}
