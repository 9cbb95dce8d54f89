import { listOpeningIntegrations } from "../integrations/opened-lines.js";
import type { FieldError } from "../refusal.js";
import type { FileText, Kind, WriteScope } from "../resources/kind.js";
import { type LineBody, lineSchema } from "./line.js";
import { lineWarnings } from "./line-warnings.js";
import { fillPasses } from "./passing.js";
import type { Station, StationBlock } from "./station.js";
import { repeated, stationReferences, validateStation } from "./station-rules.js";
import { openTasksAt } from "./station-use.table.js";

/**
 * A line: the stations that its tasks move through, and its repositories. `judges` says whether judging is set up on
 * the deployment.
 */
export function lineKind({ judges = false }: { readonly judges?: boolean }): Kind<LineBody> {
  return { ...line, warnings: (fields, reading, scope) => lineWarnings(fields, reading, { ...scope, judges }) };
}

const line: Kind<LineBody> = {
  name: "line",
  plural: "lines",
  idPrefix: "line",
  heldBy: "team",
  permission: "configure",
  schema: lineSchema,
  fixed: ["key"],
  hcl: {
    omitted: ["stations[].id"],
    folders: [
      { folder: "prompts", texts: prompts },
      { folder: "judges", texts: rubrics },
    ],
  },
  hidden: [],
  address: (fields, teamKey) => `${teamKey}/${fields.key}`,
  references: ({ stations }, teamKey) =>
    stations.flatMap((station, index) => stationReferences(station, `stations[${index}]`, teamKey)),
  title: ({ name }) => name,
  listParts: ({ stations }) =>
    stations.flatMap(({ id, name, key }) => (id === undefined ? [] : [{ kind: "station", id, title: name, key }])),
  lookupKeys: { what: "station", keys: ({ stations }) => stations.map(({ key }) => key) },
  validate: validateLine,
  fill: fillStations,
  complete: (fields, scope) => ({ fields: { ...fields, stations: completeStations(fields, scope) }, added: {} }),
  listUsers: listOpeningIntegrations,
  inUse: (row, reading) => {
    const open = openTasksAt(reading, row.workspaceId, row.id);
    return open === 0 ? null : `The line ${row.address} has ${tasksText(open)}.`;
  },
  updateInUse: (fields, previous, reading) => {
    const keys = new Set(fields.stations.map((station) => station.key));
    for (const station of previous.fields.stations.filter(({ key }) => !keys.has(key))) {
      const open = openTasksAt(reading, previous.workspaceId, previous.id, station.key);
      if (open > 0) return `The station ${station.key} of line ${previous.address} has ${tasksText(open)}.`;
    }
    return null;
  },
};

/** Validates a line beyond its schema and its references. */
export function validateLine(fields: LineBody, scope: WriteScope<LineBody>): readonly FieldError[] {
  const { stations, repositories } = fields;
  const keys = stations.map((station) => station.key);
  const setups = stations.some(({ check, diffs }) => check !== null && diffs);
  return [
    ...repeated(repositories.map((one) => one.name)).map((index) => stands(`repositories[${index}].name`)),
    ...repositories.flatMap(({ setup }, index): FieldError[] =>
      setups && setup === null
        ? [{ path: `repositories[${index}].setup`, message: "is required where a station has both check and diffs" }]
        : [],
    ),
    ...repeated(keys).map((index) => stands(`stations[${index}].key`)),
    ...stations.flatMap((station, index) => [
      ...validateStation(station, { path: `stations[${index}]`, keys, scope }),
      ...validateId(station, `stations[${index}]`, scope),
    ]),
  ];
}

/** Rejects an id, unless it is the station's current id. */
function validateId(station: StationBlock, path: string, scope: WriteScope<LineBody>): FieldError[] {
  const known = scope.previous?.fields.stations.find(({ key }) => key === station.key)?.id;
  return station.id === undefined || station.id === known ? [] : [{ path: `${path}.id`, message: "is read-only" }];
}

function tasksText(open: number): string {
  return open === 1 ? "an open task" : `${open} open tasks`;
}

function stands(path: string): FieldError {
  return { path, message: "stands twice" };
}

function fillStations(fields: LineBody, previous: LineBody | null) {
  return { ...fields, stations: [...fillPasses(fields.stations, previous?.stations ?? null)] };
}

/** Completes the fields of all stations. A station keeps its id while it keeps its key. */
function completeStations(fields: LineBody, scope: WriteScope<LineBody>): Station[] {
  const known = new Map(scope.previous?.fields.stations.map((station) => [station.key, station.id]));
  const { stations } = fillStations(fields, scope.previous?.fields ?? null);
  return stations.map((station) => ({ ...station, id: known.get(station.key) ?? scope.newId("sta") }));
}

function prompts({ stations }: LineBody): FileText[] {
  return stations.flatMap(({ key, prompt }, index) => toText(key, `stations[${index}].prompt`, prompt));
}

/** Lists the rubrics of the line's judges. A judge with only claims has no rubric. */
function rubrics({ stations }: LineBody): FileText[] {
  return stations.flatMap(({ key, judge }, index) =>
    toText(key, `stations[${index}].judge.rubric`, judge?.rubric ?? ""),
  );
}

function toText(station: string, path: string, content: string): FileText[] {
  return content === "" ? [] : [{ path, name: `${station}.md`, content }];
}
