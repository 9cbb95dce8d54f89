import { toToolReference } from "../integrations/tools.js";
import type { FieldError } from "../refusal.js";
import type { Reference, WriteScope } from "../resources/kind.js";
import { findResourceAt } from "../resources/resource.table.js";
import type { HarnessProfileFields } from "./harness-profile.kind.js";
import type { StationBlock } from "./station.js";

/** Lists a station's references to resources of its team and workspace. */
export function stationReferences(station: StationBlock, path: string, teamKey: string): Reference[] {
  const { runners, profile, skills, tools } = station;
  const pools =
    runners.pool === null ? [] : [{ path: `${path}.runners.pool`, kind: "runner-pool", address: runners.pool }];
  const profiles =
    profile === null ? [] : [{ path: `${path}.profile`, kind: "harness-profile", address: `${teamKey}/${profile}` }];
  return [
    ...pools,
    ...profiles,
    ...skills.map((key, at) => ({ path: `${path}.skills[${at}]`, kind: "skill", address: `${teamKey}/${key}` })),
    ...tools.map(({ tool }, at) => toToolReference(tool, `${path}.tools[${at}].tool`, teamKey)),
  ];
}

/** The location of a station during validation. */
export interface StationScope {
  /** For example `stations[0]`. */
  readonly path: string;
  /** Keys of all stations of the line. */
  readonly keys: readonly string[];
  readonly scope: Pick<WriteScope<unknown>, "reading" | "workspaceId" | "teamKey">;
}

/** Validates a station beyond its schema and its references. */
export function validateStation(station: StationBlock, at: StationScope): FieldError[] {
  return [
    ...validatePasses(station, at),
    ...validateProfile(station, at),
    ...validateTools(station, at.path),
    ...validateJudge(station, `${at.path}.judge`),
    ...validateAlerts(station, at.path),
  ];
}

/** Returns the indexes of values that also occur earlier. */
export function repeated(values: readonly string[]): number[] {
  return values.flatMap((value, index) => (values.indexOf(value) < index ? [index] : []));
}

function validatePasses({ key, passesTo = [] }: StationBlock, { path, keys }: StationScope): FieldError[] {
  return passesTo.flatMap((to, index): FieldError[] => {
    if (to === key) return [{ path: `${path}.passesTo[${index}]`, message: "is the station itself" }];
    return keys.includes(to) ? [] : [{ path: `${path}.passesTo[${index}]`, message: `there is no station ${to}` }];
  });
}

function validateProfile({ profile, harness }: StationBlock, { path, scope }: StationScope): FieldError[] {
  if (profile === null) return [];
  const { reading, workspaceId, teamKey } = scope;
  const found = findResourceAt<HarnessProfileFields>(reading, workspaceId, "harness-profile", `${teamKey}/${profile}`);
  if (found === undefined || found.fields.harness === harness) return [];
  return [{ path: `${path}.profile`, message: `is for the harness ${found.fields.harness}` }];
}

function validateTools({ tools }: StationBlock, path: string): FieldError[] {
  return repeated(tools.map(({ tool }) => tool)).map((index) => ({
    path: `${path}.tools[${index}].tool`,
    message: "stands twice",
  }));
}

function validateJudge({ judge }: StationBlock, path: string): FieldError[] {
  if (judge === null) return [];
  const { rubric, claims, scale, passScore, passShare } = judge;
  const errors: FieldError[] = [];
  if (rubric === "" && claims.length === 0) errors.push({ path, message: "must have a rubric or claims" });
  if (passScore !== null && scale !== "number") {
    errors.push({ path: `${path}.passScore`, message: "is allowed only with the scale number" });
  }
  if (passShare !== null && claims.length === 0) {
    errors.push({ path: `${path}.passShare`, message: "is allowed only with claims" });
  }
  return errors;
}

function validateAlerts({ alerts }: StationBlock, path: string): FieldError[] {
  return alerts.flatMap(({ measure, above }, index) =>
    measure === "failure-share" && above > 1
      ? [{ path: `${path}.alerts[${index}].above`, message: "must be at most 1: it is a share" }]
      : [],
  );
}
