import { z } from "zod";
import type { FieldError } from "../refusal.js";
import { displayName, repositoryName, slug } from "../resources/fields.js";
import type { Kind, Reference, WriteScope } from "../resources/kind.js";
import { resourceAt } from "../resources/resource-rows.js";
import type { HarnessProfileFields } from "./harness-profile.kind.js";
import { currencySchema, type Station, stationSchema } from "./station.js";
import { openTasksAt } from "./station-use.js";

const repository = z.strictObject({
  name: repositoryName,
  setup: z
    .string()
    .min(1, "must not be empty")
    .max(10_000, "must be at most 10000 characters")
    .nullable()
    .default(null),
  image: z.string().min(1, "must not be empty").max(512, "must be at most 512 characters").nullable().default(null),
});

const schema = z.strictObject({
  key: slug,
  name: displayName,
  repositories: z.array(repository).max(50, "must be at most 50 repositories").default([]),
  source: z
    .strictObject({ repository: repositoryName, path: z.string().min(1, "must not be empty").max(1_024) })
    .nullable()
    .default(null),
  replayCheck: z
    .strictObject({
      mostRegressions: z.int("must be a whole number").min(0, "must be at least 0").default(0),
      ceiling: z.number("must be a number").positive("must be above 0").nullable().default(null),
      currency: currencySchema.default("USD"),
      minGain: z.number("must be a number").min(0, "must be at least 0").max(1, "must be at most 1").default(0),
    })
    .nullable()
    .default(null),
  stations: z.array(stationSchema).min(1, "must hold at least one station").max(100, "must be at most 100 stations"),
});

export type LineBody = z.output<typeof schema>;
/** A line as it is kept: its stations have ids. */
export type LineFields = Omit<LineBody, "stations"> & { readonly stations: readonly Station[] };

/** A line: the stations that its tasks move through, and the repositories they are about. */
export const lineKind: Kind<LineBody> = {
  name: "line",
  plural: "lines",
  idPrefix: "line",
  heldBy: "team",
  permission: "configure",
  schema,
  fixed: ["key"],
  hcl: { omitted: ["stations[].id"], files: textsOf },
  hidden: [],
  address: (fields, teamKey) => `${teamKey}/${fields.key}`,
  references,
  listedUnder: { what: "station", words: ({ stations }) => stations.map(({ key }) => key) },
  check: checkLine,
  complete: (fields, scope) => ({ fields: { ...fields, stations: withIds(fields, scope) }, added: {} }),
  inUse: (row, reading) => {
    const open = openTasksAt(reading, row.workspaceId, row.id);
    return open === 0 ? null : `The line ${row.address} has ${open} open tasks.`;
  },
  updateInUse: (fields, previous, reading) => {
    const kept = new Set(fields.stations.map((station) => station.key));
    for (const station of previous.fields.stations.filter(({ key }) => !kept.has(key))) {
      const open = openTasksAt(reading, previous.workspaceId, previous.id, station.key);
      if (open > 0) return `The station ${station.key} of line ${previous.address} has ${open} open tasks.`;
    }
    return null;
  },
};

function references(fields: LineBody, teamKey: string): readonly Reference[] {
  return fields.stations.flatMap((station, index) => stationReferences(station, `stations[${index}]`, teamKey));
}

function stationReferences(station: LineBody["stations"][number], path: string, teamKey: string): Reference[] {
  const { runners, profile, skills } = station;
  const pools =
    runners.pool === null ? [] : [{ path: `${path}.runners.pool`, kind: "runner-pool", address: runners.pool }];
  const profiles =
    profile === null ? [] : [{ path: `${path}.profile`, kind: "harness-profile", address: `${teamKey}/${profile}` }];
  return [
    ...pools,
    ...profiles,
    ...skills.map((key, at) => ({ path: `${path}.skills[${at}]`, kind: "skill", address: `${teamKey}/${key}` })),
  ];
}

function checkLine(fields: LineBody, scope: WriteScope<LineBody>): readonly FieldError[] {
  const keys = fields.stations.map((station) => station.key);
  const names = fields.repositories.map((one) => one.name);
  return [
    ...repeated(names).map((index) => ({ path: `repositories[${index}].name`, message: "stands twice" })),
    ...repeated(keys).map((index) => ({ path: `stations[${index}].key`, message: "stands twice" })),
    ...fields.stations.flatMap((station, index) => checkStation(station, `stations[${index}]`, keys, scope)),
  ];
}

function checkStation(
  station: LineBody["stations"][number],
  path: string,
  keys: readonly string[],
  scope: WriteScope<LineBody>,
): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, to] of station.passesTo.entries()) {
    if (!keys.includes(to)) errors.push({ path: `${path}.passesTo[${index}]`, message: `there is no station ${to}` });
    if (to === station.key) errors.push({ path: `${path}.passesTo[${index}]`, message: "is the station itself" });
  }
  const known = scope.previous?.fields.stations.find(({ key }) => key === station.key)?.id;
  if (station.id !== undefined && station.id !== known) {
    errors.push({ path: `${path}.id`, message: "is read-only" });
  }
  const profile =
    station.profile === null
      ? undefined
      : resourceAt<HarnessProfileFields>(
          scope.reading,
          scope.workspaceId,
          "harness-profile",
          `${scope.teamKey}/${station.profile}`,
        );
  if (profile !== undefined && profile.fields.harness !== station.harness) {
    errors.push({ path: `${path}.profile`, message: `is for the harness ${profile.fields.harness}` });
  }
  // Integrations are not served yet, so none offers a tool.
  for (const [index, { tool }] of station.tools.entries()) {
    errors.push({ path: `${path}.tools[${index}]`, message: `no integration of the team offers ${tool}` });
  }
  return errors;
}

function repeated(values: readonly string[]): number[] {
  return values.flatMap((value, index) => (values.indexOf(value) < index ? [index] : []));
}

/** A station keeps its id as long as it keeps its key. */
function withIds(fields: LineBody, scope: WriteScope<LineBody>): Station[] {
  const known = new Map(scope.previous?.fields.stations.map((station) => [station.key, station.id]));
  return fields.stations.map((station) => ({ ...station, id: known.get(station.key) ?? scope.newId("sta") }));
}

/** Each station's prompt and its judge's rubric; a judge with claims alone has none. */
function textsOf(fields: LineBody, teamKey: string): { path: string; file: string; content: string }[] {
  return fields.stations.flatMap(({ key, prompt, judge }, index) => {
    const file = `${teamKey}/${fields.key}/${key}.md`;
    const texts = [
      { path: `stations[${index}].prompt`, file: `prompts/${file}`, content: prompt },
      { path: `stations[${index}].judge.rubric`, file: `judges/${file}`, content: judge?.rubric ?? "" },
    ];
    return texts.filter(({ content }) => content !== "");
  });
}
