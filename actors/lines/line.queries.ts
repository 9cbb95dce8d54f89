import type { Reading } from "../../storage/store.js";
import { findResource } from "../resources/resource.table.js";
import type { LineFields } from "./line.js";
import type { Station } from "./station.js";

/** A line as it is now, or undefined when it is gone. */
export function findLine(reading: Reading, workspaceId: string, lineId: string): LineFields | undefined {
  return findResource<LineFields>(reading, workspaceId, "line", lineId)?.fields;
}

/** A station of a line by its key. */
export function findStation(line: LineFields | undefined, key: string): Station | undefined {
  return line?.stations.find((station) => station.key === key);
}

/** Those of `passesTo` that come later in the line than `key`; passing to any other sends the task back. */
export function laterStations(line: LineFields | undefined, key: string, passesTo: readonly string[]): string[] {
  const order = line?.stations.map((station) => station.key) ?? [];
  return passesTo.filter((to) => order.indexOf(to) > order.indexOf(key));
}
