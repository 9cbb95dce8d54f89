import { CouldNotAsk } from "./could-not-ask.js";
import type { Outcome } from "./outcome.js";
import { type Planned, planChecks } from "./planned-checks.js";
import type { PlannedLine } from "./planned-line.js";
import { Interrupted } from "./requests.js";
import { type CheckRunOptions, runChecks } from "./run-checks.js";
import type { LineName, Service } from "./service.js";

export interface CheckPlanOptions extends CheckRunOptions {
  /** An id or an address; null for the lines that the plan names. */
  readonly line: string | null;
  /** Keys; null for every station that the plan changes. */
  readonly stations: readonly string[] | null;
}

/** Starts and awaits the checks of a plan. What of it could not be asked is told beside what could. */
export async function checkPlan(lines: readonly PlannedLine[], options: CheckPlanOptions): Promise<readonly Outcome[]> {
  const planned: Planned[] = [];
  const wanted = options.line === null ? null : await askedId(options.service, options.line);
  for (const line of lines) planned.push(...(await planLine(line, wanted, options)));
  const { stations } = options;
  const chosen = planned.filter(
    (each) => stations === null || each.what !== "check" || stations.includes(each.check.stationKey),
  );
  const ran = await runChecks(
    chosen.flatMap((each) => (each.what === "check" ? [{ title: each.title, check: each.check }] : [])),
    options,
  );
  const others = chosen.flatMap((each): Outcome[] => {
    if (each.what === "check") return [];
    const { title, what, why } = each;
    return [what === "not-asked" ? { title, what, why, check: null } : { title, what, why }];
  });
  return [...ran, ...others];
}

/** The id of the line that was named. */
async function askedId(service: Service, line: string): Promise<string> {
  return line.includes("/") ? (await service.findLine({ address: line })).id : line;
}

async function planLine(
  line: PlannedLine,
  wanted: string | null,
  { service, whyEnded }: CheckPlanOptions,
): Promise<readonly Planned[]> {
  const { place: title, what, id, teamId, key } = line;
  const isNamed = id !== null || (teamId !== null && key !== null);
  if (wanted !== null && id !== null && id !== wanted) return [];
  if (what === "added") {
    const why = "The plan makes this line, or makes it anew: it has no past runs.";
    return wanted === null ? [{ title, what: "nothing-to-replay", why }] : [];
  }
  if (what === "not-replayed") {
    const why = "A check replays the station's block and the repositories, not what this changes of runs.";
    return [{ title, what: "nothing-to-replay", why }];
  }
  if (what === "removed") return [{ title, what: "nothing-to-replay", why: "The plan removes this line." }];
  try {
    const live = await service.findLine(isNamed || wanted === null ? nameOf(line) : { id: wanted });
    return wanted === null || live.id === wanted ? planChecks(line, live) : [];
  } catch (error) {
    if (error instanceof Interrupted) return [{ title, what: "not-asked", why: whyEnded() }];
    if (!(error instanceof CouldNotAsk)) throw error;
    return [{ title, what: "not-asked", why: error.message }];
  }
}

function nameOf({ id, teamId, key, place }: PlannedLine): LineName {
  if (id !== null) return { id };
  if (teamId !== null && key !== null) return { teamId, key };
  throw new CouldNotAsk(`${place} does not say of which line it is: say it with --line.`);
}
