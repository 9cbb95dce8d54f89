import type { LineBody, LineFields } from "../../lines/line.js";
import { validateLine } from "../../lines/line.kind.js";
import type { StationBlock } from "../../lines/station.js";
import { stationReferences } from "../../lines/station-rules.js";
import type { FieldError } from "../../refusal.js";
import type { WriteScope } from "../../resources/kind.js";
import type { ResourceRow } from "../../resources/resource.table.js";
import { danglingReferences, missingReference } from "../../resources/resource-indexes.table.js";
import { isHarnessOffered } from "../../runners/runner.table.js";

/** A stored line, as a resource. */
export type LineRow = ResourceRow<LineFields>;

interface CheckedAt {
  readonly stationKey: string;
  readonly scope: WriteScope<unknown>;
  /**
   * The path of the line's repositories in the request. Omitted unless the request proposes repositories with the
   * block.
   */
  readonly linePath?: string;
}

/**
 * Validates a block as the station of its line. An error about proposed repositories has a path under `linePath`; any
 * other error has a path under `station`. The block may name any tools of its team, even if a search's agent wrote the
 * block: a replay calls no tools, so no data can leave through tools.
 */
export function checkBlock(block: StationBlock, line: LineRow, at: CheckedAt): readonly FieldError[] {
  const { stationKey, scope, linePath = null } = at;
  if (block.key !== stationKey) {
    return [{ path: "station.key", message: `keeps the station's key, \`${stationKey}\`` }];
  }
  const place = line.fields.stations.findIndex(({ key }) => key === stationKey);
  const planned = replaced(line.fields, place, block);
  const previous = { ...line, fields: { ...line.fields, stations: [...line.fields.stations] } };
  const own = `stations[${place}]`;
  const references = stationReferences(block, own, scope.teamKey);
  const dangling = danglingReferences(scope.reading, scope.workspaceId, { references, teamId: scope.teamId });
  return [
    ...checkReplayable(block, scope),
    ...[...validateLine(planned, { ...scope, previous }), ...dangling.map(missingReference)].map(({ path, message }) =>
      placed({ path, message }, own, linePath),
    ),
  ];
}

function checkReplayable(block: StationBlock, scope: WriteScope<unknown>): FieldError[] {
  const errors: FieldError[] = [];
  if (block.kind !== "work")
    errors.push({ path: "station.kind", message: "must be work: only work stations are replayed" });
  if (!isHarnessOffered(scope.reading, scope.workspaceId, block.harness)) {
    errors.push({ path: "station.harness", message: "names a harness a runner can start" });
  }
  return errors;
}

function replaced({ stations, ...line }: LineFields, place: number, block: StationBlock): LineBody {
  return { ...line, stations: stations.map((station, index) => (index === place ? block : station)) };
}

/**
 * Maps an error of the line to the request: to the proposed block, or to the proposed repositories. An error in any
 * other part of the line becomes an error of the whole block.
 */
function placed({ path, message }: FieldError, own: string, linePath: string | null): FieldError {
  if (path.startsWith(own)) return { path: `station${path.slice(own.length)}`, message };
  if (linePath !== null && path.startsWith("repositories")) return { path: `${linePath}.${path}`, message };
  return { path: "station", message: `${path} ${message}` };
}
