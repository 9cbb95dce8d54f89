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

/** A check to start. */
export interface PlannedCheck {
  readonly teamId: string;
  readonly lineId: string;
  readonly stationKey: string;
  readonly station: Readonly<Record<string, unknown>>;
  /** Null to use the live line's repositories. */
  readonly repositories: readonly unknown[] | null;
}

/**
 * What happens to a station, or to another part of the plan: a check, or the reason why there is none. `--station`
 * selects this entry by the key `station`. If `station` is null, the entry is always reported.
 */
export type Planned = { readonly title: string; readonly station: string | null } & (
  | { readonly what: "check"; readonly check: PlannedCheck }
  | { readonly what: "nothing-to-replay" | "not-asked"; readonly why: string }
);

/**
 * Determines what to check of a planned line:
 *
 * - Each work station whose block the plan changes gets a check. If the plan changes the repositories, every work
 *   station gets a check.
 * - New stations, new repositories and removed stations have nothing to replay.
 * - A single station block that matches no station of the line is reported as an error, because a new station
 *   requires a plan of the whole line.
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
        `The repository ${name} is new to the line: past runs do not have it, so a check cannot replay it.`,
      ),
    ),
  ];
}

interface Scope {
  readonly planned: PlannedLine;
  readonly live: LiveLine;
  readonly repositories: readonly unknown[] | null;
  /** Whether the plan changes or removes repositories of the line. */
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
    return isOther ? [nothing(title, key, "The plan makes this a review station, which checks do not replay.")] : [];
  }
  const faults = [...planned.faults, ...station.faults];
  if (faults.length > 0) return [{ title, station: key, what: "not-asked", why: faultsText(planned.place, faults) }];
  if (before === undefined) return [nothing(title, key, "The plan adds this station: it has no past runs.")];
  if (!isOtherLine && isAlike(block, before, (value) => toStation(value, before))) return [];
  const { id: lineId, teamId } = live;
  const check = { teamId, lineId, stationKey: key, station: block, repositories };
  return [{ title, station: key, what: "check", check }];
}

/** For example: `station.json: key does not name a station of core/dev, which has "work", "fix".` */
function noStationText({ place }: PlannedLine, { address, stations }: LiveLine): string {
  const keys = stations.map(({ key }) => JSON.stringify(key)).join(", ");
  return `${place}: key does not name a station of ${address}, which has ${keys === "" ? "none" : keys}.`;
}

function nothing(title: string, station: string | null, why: string): Planned {
  return { title, station, what: "nothing-to-replay", why };
}

/** For example: `service_line.dev: stations[0].prompt is known only once the plan is applied.` */
function faultsText(place: string, faults: readonly AttributeFault[]): string {
  return faults
    .map(({ path, message }) => `${path === "" ? place : `${place}: ${path}`} ${message}.`)
    .slice(0, 20)
    .join(" ");
}

const named = z.looseObject({ name: z.string() });

/** Returns the planned repositories that the line already has; null if the plan does not define repositories. */
function plannedRepositories(planned: PlannedLine, live: LiveLine): readonly unknown[] | null {
  const added = newRepositories(planned, live);
  return planned.repositories?.filter((each) => !added.includes(toName(each))) ?? null;
}

function newRepositories({ repositories }: PlannedLine, live: LiveLine): readonly string[] {
  const known = live.repositories.map(toName);
  return (repositories ?? []).map(toName).filter((name) => name !== "" && !known.includes(name));
}

function toName(repository: unknown): string {
  return named.safeParse(repository).data?.name ?? "";
}

/** Whether two values are equal after defaults are filled in. A value of the wrong form equals no valid value. */
function isAlike(planned: unknown, live: unknown, toBody: (value: unknown) => unknown): boolean {
  return canonicalJson(toBody(planned)) === canonicalJson(toBody(live));
}

/**
 * Removes the id and unknown members, which a later release may have added. If the station omits `passesTo`, uses the
 * live station's `passesTo`, as a check does. For a value of the wrong form, returns a result that equals no station.
 */
function toStation(value: unknown, live: LiveStation): unknown {
  const { data } = stationSchema.strip().safeParse(value);
  if (data === undefined) return { value };
  const { id: _id, ...known } = passingAs(data, { passesTo: listPasses(live) });
  return known;
}

function listPasses(live: LiveStation): string[] {
  return stationSchema.shape.passesTo.safeParse(live.passesTo).data ?? [];
}

const repositoriesSchema = lineSchema.shape.repositories;

function toRepositories(value: unknown): unknown {
  return repositoriesSchema.safeParse(value).data ?? value;
}
