import type { Reading } from "../../storage/store.js";
import { findHosted } from "../code-host/hosted-repository.queries.js";
import type { Warning } from "../resources/kind.js";
import { isHarnessOffered } from "../runners/runner.table.js";
import type { LineBody } from "./line.js";
import { unreachedStations } from "./passing.js";
import type { StationBlock } from "./station.js";

/**
 * Warnings about settings that the service accepts but cannot apply as written. Examples are fields without effect,
 * stations that no task reaches, and repositories that have been renamed.
 */
export function lineWarnings(
  { repositories, source, stations }: LineBody,
  reading: Reading,
  { workspaceId, judges }: { readonly workspaceId: string; readonly judges: boolean },
): readonly Warning[] {
  const namesOld = (name: string, path: string) => {
    const known = findHosted(reading, workspaceId, { repository: name });
    if (known === undefined || known.name.toLowerCase() === name.toLowerCase()) return [];
    const message = `${known.host} now calls this repository ${known.name}: use that name, because another repository may take the old one`;
    return [warning(path, message)];
  };
  return [
    ...repositories.flatMap(({ name }, index) => namesOld(name, `repositories[${index}].name`)),
    ...(source === null ? [] : namesOld(source.repository, "source.repository")),
    ...repositories.flatMap(({ image }, index) =>
      image === null
        ? []
        : [
            warning(
              `repositories[${index}].image`,
              "runners cannot start containers yet: runs of this line fail (no-image)",
            ),
          ],
    ),
    ...unreachedStations(stations).map(({ index, key, isPassedTo }) =>
      warning(
        `stations[${index}]`,
        `${isPassedTo ? "no station that tasks reach" : "no station"} passes to ${key}: only tasks that are opened at it ` +
          "or moved to it reach it",
      ),
    ),
    ...stations.flatMap((station, index) => [
      ...(station.judge === null || judges ? [] : [warning(`stations[${index}].judge`, NO_MODEL)]),
      ...unserved(station, `stations[${index}]`),
      ...(isHarnessOffered(reading, workspaceId, station.harness)
        ? []
        : [warning(`stations[${index}].harness`, "no runner of the workspace offers it: runs wait for one")]),
    ]),
  ];
}

const NO_MODEL = "judging is not set up on this deployment: replays of the station are not scored";

/** The fields of a station that may have no effect, each with the warning. */
const unservedFields: readonly [
  field: keyof StationBlock,
  message: string,
  isSet: (station: StationBlock) => boolean,
][] = [
  ["diffs", "change stacks are not configured on this deployment: no change stacks are drafted", ({ diffs }) => diffs],
  ["decisions", "drafting is not set up on this deployment: no decisions are drafted", ({ decisions }) => decisions],
  ["alerts", "alerts are not implemented yet: they never fire", ({ alerts }) => alerts.length > 0],
];

function unserved(station: StationBlock, path: string): Warning[] {
  return unservedFields.flatMap(([field, message, isSet]) =>
    isSet(station) ? [warning(`${path}.${field}`, message)] : [],
  );
}

function warning(path: string, message: string): Warning {
  return { path, message, severity: "warning" };
}
