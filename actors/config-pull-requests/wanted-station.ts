import type { Reading } from "../../storage/store.js";
import type { LineFields } from "../lines/line.js";
import type { StationBody } from "../lines/station.js";
import { canonicalJson } from "../resources/canonical-json.js";
import { findResource } from "../resources/resource.table.js";
import type { OpeningRefusal, PickedCandidate } from "./config-pull-request.js";
import type { WantedStation } from "./edit/station-edit.js";
import { refuseOpening } from "./opening-refusals.js";
import type { FindPickedConfig } from "./picked-config.js";

/**
 * The fields of a station that a candidate may change, because they affect how runs work. Other fields keep their live
 * values.
 */
const changeable = [
  ...(["harness", "model", "effort", "profile", "prompt", "skills", "tools", "decisions", "timeoutMinutes"] as const),
] as const;

/**
 * Returns the wanted station: the current live station, with the candidate's values for the fields that the candidate
 * changed. Refuses in these cases:
 * - The live value of such a field has changed since the search began, to another value than the candidate's.
 * - Nothing is left to change.
 * - The station or the search was removed.
 */
export function findWanted(
  reading: Reading,
  workspaceId: string,
  {
    row,
    path,
    repository,
    findPicked,
  }: {
    readonly row: Pick<PickedCandidate, "teamId" | "lineId" | "stationId" | "searchId" | "candidateId">;
    readonly path: string;
    readonly repository: string;
    readonly findPicked: FindPickedConfig;
  },
): { readonly wanted: WantedStation } | { readonly refused: OpeningRefusal } {
  const refused = (code: OpeningRefusal["code"], message: string) => ({ refused: refuseOpening(code, message) });
  const line = findResource<LineFields>(reading, workspaceId, "line", row.lineId)?.fields;
  const team = findResource<{ readonly key: string }>(reading, workspaceId, "team", row.teamId)?.fields;
  const station = line?.stations.find(({ id }) => id === row.stationId);
  if (line === undefined || team === undefined || station === undefined) {
    return refused("not-found", "The station was removed from its line.");
  }
  const picked = findPicked(reading, workspaceId, row);
  if (picked === null) return refused("not-found", "The candidate's search was removed.");
  const { id: _id, ...live } = station;
  const changed = changeable.filter((part) => !isSame(picked.was, picked.wanted, part));
  const moved = changed.filter((part) => !isSame(picked.was, live, part));
  if (moved.length > 0 && !moved.every((part) => isSame(picked.wanted, live, part))) {
    const message = `The live config has changed since the candidate was measured against it: ${moved.join(", ")}.`;
    return refused("changed-meanwhile", message);
  }
  if (moved.length === changed.length) {
    return refused("changed-meanwhile", "The live config already contains the candidate's changes.");
  }
  const wanted = { ...live, ...Object.fromEntries(changed.map((part) => [part, picked.wanted[part]])) };
  return { wanted: { path, repository, team: { id: row.teamId, key: team.key }, lineKey: line.key, live, wanted } };
}

function isSame(
  left: Pick<StationBody, (typeof changeable)[number]>,
  right: Pick<StationBody, (typeof changeable)[number]>,
  part: (typeof changeable)[number],
): boolean {
  return canonicalJson(left[part]) === canonicalJson(right[part]);
}
