import { CouldNotAsk } from "./could-not-ask.js";
import type { Outcome } from "./outcome.js";
import { type LiveLine, type Planned, planChecks } from "./planned-checks.js";
import type { PlannedLine } from "./planned-line.js";
import { Interrupted } from "./requests.js";
import { type CheckRunOptions, runChecks } from "./run-checks.js";
import type { LineName, Service } from "./service.js";

export interface CheckPlanOptions extends CheckRunOptions, PlanLinesOptions {}

/**
 * Starts the checks of a plan and waits for them. Returns the outcomes of the checks. Also returns an outcome for each
 * part of the plan that has no check but something to report.
 */
export async function checkPlan(lines: readonly PlannedLine[], options: CheckPlanOptions): Promise<readonly Outcome[]> {
  const planned = await planLines(lines, options);
  const ran = await runChecks(
    planned.flatMap((each) => (each.what === "check" ? [{ title: each.title, check: each.check }] : [])),
    options,
  );
  const others = planned.flatMap((each): Outcome[] => {
    if (each.what === "check") return [];
    const { title, what, why } = each;
    return [what === "not-asked" ? { title, what, why, check: null } : { title, what, why }];
  });
  return [...ran, ...others];
}

interface PlanLinesOptions {
  readonly service: Service;
  /** The line's id or its address. Null to use the lines that the plan names. */
  readonly line: string | null;
  /** Station keys; null for every station that the plan changes. */
  readonly stations: readonly string[] | null;
  /** Returns why the command must end, as a sentence. Returns an empty string if the command may continue. */
  readonly whyEnded: () => string;
}

/**
 * Determines what to check in a plan's lines. Throws `CouldNotAsk` if the line that `--line` names cannot be read.
 * Reports each station of `--station` that none of these lines has. Otherwise, a mistyped station name would let every
 * change pass.
 */
async function planLines(lines: readonly PlannedLine[], options: PlanLinesOptions): Promise<readonly Planned[]> {
  const { service, line, stations } = options;
  const named = line === null ? null : await service.findLine(line.includes("/") ? { address: line } : { id: line });
  const found: LinePlan[] = [{ planned: [], keys: collectKeys(named) }];
  for (const each of lines) found.push(await planLine(each, named, options));
  const planned = found.flatMap((each) => each.planned);
  if (stations === null) return planned;
  const keys = new Set(found.flatMap((each) => each.keys));
  const unknown = keys.size === 0 ? [] : stations.filter((key) => !keys.has(key));
  return [
    ...planned.filter(({ station }) => station === null || stations.includes(station)),
    ...unknown.map((key): Planned => {
      const why = "--station names this station, but no line in the plan has it.";
      return { title: key, station: key, what: "not-asked", why };
    }),
  ];
}

interface LinePlan {
  readonly planned: readonly Planned[];
  /** Keys of the line's stations, live or planned. */
  readonly keys: readonly string[];
}

const nowhere: LinePlan = { planned: [], keys: [] };

/** Determines what to check in a line of the plan. `named` is the line of `--line`; null if the option is not set. */
async function planLine(
  line: PlannedLine,
  named: LiveLine | null,
  { service, whyEnded }: PlanLinesOptions,
): Promise<LinePlan> {
  const { place: title, what, id } = line;
  const notReplayed = (what: "nothing-to-replay" | "not-asked", why: string): LinePlan => ({
    planned: [{ title, station: null, what, why }],
    keys: [],
  });
  if (what === "not-replayed") {
    return notReplayed(
      "nothing-to-replay",
      "A check replays the station's block and the repositories. The plan changes neither.",
    );
  }
  if (named !== null && (what === "added" || (id !== null && id !== named.id))) return nowhere;
  if (what === "added") {
    return notReplayed("nothing-to-replay", "The plan creates or replaces this line: it has no past runs.");
  }
  if (what === "removed") return notReplayed("nothing-to-replay", "The plan removes this line.");
  try {
    const live = await findLive(line, named, service);
    if (named !== null && live.id !== named.id) return nowhere;
    return { planned: planChecks(line, live), keys: [...collectKeys(live), ...line.stations.map(({ key }) => key)] };
  } catch (error) {
    if (error instanceof Interrupted) return notReplayed("not-asked", whyEnded());
    if (!(error instanceof CouldNotAsk)) throw error;
    return notReplayed("not-asked", error.message);
  }
}

/**
 * Finds the live line that the plan names, or the requested line if the plan names none. Throws {@link CouldNotAsk} if
 * there is no such line.
 */
async function findLive(
  { id, teamId, key, place }: PlannedLine,
  named: LiveLine | null,
  service: Service,
): Promise<LiveLine> {
  const name: LineName | null = id !== null ? { id } : teamId !== null && key !== null ? { teamId, key } : null;
  if (named !== null && (name === null || id === named.id)) return named;
  if (name === null) throw new CouldNotAsk(`${place} does not name its line: set --line.`);
  return service.findLine(name);
}

function collectKeys(line: LiveLine | null): readonly string[] {
  return line?.stations.map(({ key }) => key) ?? [];
}
