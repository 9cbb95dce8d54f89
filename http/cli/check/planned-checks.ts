import { z } from "zod";
import type { AttributeFault } from "../../../actors/export/from-attributes.js";
import { lineSchema } from "../../../actors/lines/line.js";
import { passingAs } from "../../../actors/lines/passing.js";
import { stationSchema } from "../../../actors/lines/station.js";
import { canonicalJson } from "../../../actors/resources/canonical-json.js";
import type { PlannedLine, PlannedStation } from "./planned-line.js";

/** A line as the service has it now. */
export interface LiveLine {
  readonly id: string;
  readonly teamId: string;
  /** `<team key>/<line key>` */
  readonly address: string;
  readonly repositories: readonly unknown[];
  readonly stations: readonly LiveStation[];
}

export type LiveStation = Readonly<Record<string, unknown>> & { readonly key: string };

/** One check to start. */
export interface PlannedCheck {
  readonly teamId: string;
  readonly lineId: string;
  readonly stationKey: string;
  readonly station: Readonly<Record<string, unknown>>;
  /** Null for the live line's. */
  readonly repositories: readonly unknown[] | null;
}

/**
 * What becomes of a station, or of something else of the plan: a check, or why there is none. Titles of stations are
 * `<team>/<line>/<station>`; `station` is its key, null for what is of none.
 */
export type Planned = { readonly title: string; readonly station: string | null } & (
  | { readonly what: "check"; readonly check: PlannedCheck }
  | { readonly what: "nothing-to-replay" | "not-asked"; readonly why: string }
);

/**
 * What is to be checked of a planned line: each work station whose block the plan changes, and every work station when it
 * changes the repositories. A station that is new has no past runs, nor has a repository that is new: the station is not
 * checked, the repository is left out. A station block alone that names no station of the line is not asked about: who
 * plans a new station plans the line.
 */
export function planChecks(planned: PlannedLine, live: LiveLine): readonly Planned[] {
  const repositories = plannedRepositories(planned, live);
  const isOtherLine = repositories !== null && !isAlike(repositories, live.repositories, toRepositories);
  const found = planned.stations.flatMap((station) =>
    planStation({ planned, live, repositories, isOtherLine }, station),
  );
  const left = planned.isWhole
    ? live.stations.filter(({ key }) => !planned.stations.some((station) => station.key === key))
    : [];
  return [
    ...found,
    ...left.map(({ key }) => nothing(`${live.address}/${key}`, key, "The plan removes this station.")),
    ...newRepositories(planned, live).map((name) =>
      nothing(
        live.address,
        null,
        `The repository ${name} is new to the line: past runs do not have it, and no check does.`,
      ),
    ),
  ];
}

interface Scope {
  readonly planned: PlannedLine;
  readonly live: LiveLine;
  readonly repositories: readonly unknown[] | null;
  /** Whether the plan changes the repositories. */
  readonly isOtherLine: boolean;
}

function planStation({ planned, live, repositories, isOtherLine }: Scope, station: PlannedStation): readonly Planned[] {
  const { key, kind, block } = station;
  const title = `${live.address}/${key}`;
  const before = live.stations.find((each) => each.key === key);
  if (before === undefined && !planned.isWhole) {
    return [{ title, station: null, what: "not-asked", why: noStationText(planned, live) }];
  }
  if (kind === "review") {
    const isOther = before?.kind === "work";
    return isOther ? [nothing(title, key, "The plan makes this a review station, which no check replays.")] : [];
  }
  const faults = [...planned.faults, ...station.faults];
  if (faults.length > 0) return [{ title, station: key, what: "not-asked", why: faultsText(planned.place, faults) }];
  if (before === undefined) return [nothing(title, key, "The plan adds this station: it has no past runs.")];
  if (!isOtherLine && isAlike(block, before, (value) => toStation(value, before))) return [];
  const { id: lineId, teamId } = live;
  const check = { teamId, lineId, stationKey: key, station: block, repositories };
  return [{ title, station: key, what: "check", check }];
}

/** `station.json: key names no station of core/dev, which has "work", "fix".` */
function noStationText({ place }: PlannedLine, { address, stations }: LiveLine): string {
  const keys = stations.map(({ key }) => JSON.stringify(key)).join(", ");
  return `${place}: key names no station of ${address}, which has ${keys === "" ? "none" : keys}.`;
}

function nothing(title: string, station: string | null, why: string): Planned {
  return { title, station, what: "nothing-to-replay", why };
}

/** `service_line.dev: stations[0].prompt is known only once the plan is applied.` */
function faultsText(place: string, faults: readonly AttributeFault[]): string {
  return faults
    .map(({ path, message }) => `${path === "" ? place : `${place}: ${path}`} ${message}.`)
    .slice(0, 20)
    .join(" ");
}

const named = z.looseObject({ name: z.string() });

/** The planned repositories that the line has; null where the plan says nothing of them. */
function plannedRepositories(planned: PlannedLine, live: LiveLine): readonly unknown[] | null {
  const added = newRepositories(planned, live);
  return planned.repositories?.filter((each) => !added.includes(nameOf(each))) ?? null;
}

function newRepositories({ repositories }: PlannedLine, live: LiveLine): readonly string[] {
  const known = live.repositories.map(nameOf);
  return (repositories ?? []).map(nameOf).filter((name) => name !== "" && !known.includes(name));
}

function nameOf(repository: unknown): string {
  return named.safeParse(repository).data?.name ?? "";
}

/** Whether two values are equal once defaults are filled in; a value that is of another form is like no other. */
function isAlike(planned: unknown, live: unknown, toBody: (value: unknown) => unknown): boolean {
  return canonicalJson(toBody(planned)) === canonicalJson(toBody(live));
}

/**
 * Without its id, and without members that are not known here, which a later release may have. What a check takes from
 * the live station when a block omits it, is taken here too.
 */
function toStation(value: unknown, live: LiveStation): unknown {
  const { data } = stationSchema.strip().safeParse(value);
  if (data === undefined) return { value };
  const { id: _id, ...known } = passingAs(data, { passesTo: passesOf(live) });
  return known;
}

function passesOf(live: LiveStation): string[] {
  return stationSchema.shape.passesTo.safeParse(live.passesTo).data ?? [];
}

const repositoriesSchema = lineSchema.shape.repositories;

function toRepositories(value: unknown): unknown {
  return repositoriesSchema.safeParse(value).data ?? value;
}
