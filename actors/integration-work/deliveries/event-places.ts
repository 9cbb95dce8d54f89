import type { Reading } from "../../../storage/store.js";
import type { LineFields } from "../../lines/line.js";
import { findStation } from "../../lines/line.queries.js";
import { findResourceAt, type ResourceRow } from "../../resources/resource.table.js";
import { getTeamKey } from "../../resources/resource-indexes.table.js";
import type { EventPlaces } from "./evaluate-raise.js";

/** Returns the current lines of an integration's team. */
export function toEventPlaces(
  reading: Reading,
  { workspaceId, teamId }: Pick<ResourceRow, "workspaceId" | "teamId">,
): EventPlaces {
  const teamKey = getTeamKey(reading, workspaceId, teamId);
  return {
    findLine: (key) => {
      const line = findResourceAt<LineFields>(reading, workspaceId, "line", `${teamKey}/${key}`);
      if (line === undefined) return undefined;
      return { id: line.id, hasStation: (station) => findStation(line.fields, station) !== undefined };
    },
  };
}
