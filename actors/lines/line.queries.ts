import type { Reading } from "../../storage/store.js";
import { findResource } from "../resources/resource.table.js";
import type { LineFields } from "./line.js";
import type { Station } from "./station.js";

/** Finds the current version of a line; undefined if the line was deleted. */
export function findLine(reading: Reading, workspaceId: string, lineId: string): LineFields | undefined {
  return findResource<LineFields>(reading, workspaceId, "line", lineId)?.fields;
}

/** Finds a station of a line by its key; undefined if there is none. */
export function findStation(line: LineFields | undefined, key: string): Station | undefined {
  return line?.stations.find((station) => station.key === key);
}

/**
 * Returns the stations of `passesTo` that come after the station `key` in the line. Passing a task to any other station
 * sends the task back.
 */
export function laterStations(line: LineFields | undefined, key: string, passesTo: readonly string[]): string[] {
  const order = line?.stations.map((station) => station.key) ?? [];
  return passesTo.filter((to) => order.indexOf(to) > order.indexOf(key));
}
