import type { Turn } from "../../runtime/turns/turn.js";
import type { RunConfig } from "../lines/fingerprint.js";
import { boundMoney } from "../money.js";
import type { Opener } from "../opener.js";
import { DEFAULT_MODEL, type RunFact, runFacts } from "../run-facts/run-fact.table.js";
import { type RunOutcomeRow, runOutcomes } from "../run-facts/run-outcome.table.js";
import { toDay } from "../run-facts/stay.table.js";
import type { RunOutcome, RunRow } from "./run.js";
import { getRunInput } from "./run-input.table.js";
import type { RunOwner } from "./run-owner.js";

/** The data that a run fact is built from. */
export interface FactSource {
  readonly run: RunRow;
  readonly outcome: RunOutcome;
  readonly taskId: string;
  readonly config: RunConfig;
  readonly openedBy: Opener | null;
  /** The run's outcome in its task, if known before the run ends. */
  readonly became: RunOutcomeRow | undefined;
  readonly endedMs: number;
}

/** Records the fact of a run that ends in this turn, if the owner's runs count in team figures. */
export function recordRunFact(turn: Turn, run: RunRow, outcome: RunOutcome, owner: RunOwner): void {
  const { opener } = owner;
  const { taskId } = run;
  if (opener === null || taskId === null) return;
  const { partition } = turn.self;
  const { config } = getRunInput(turn, partition, run.id);
  const openedBy = opener(turn, partition, run);
  const became = runOutcomes.get(turn, partition, run.id);
  const source = { run, outcome, taskId, config, openedBy, became, endedMs: turn.now };
  runFacts.insert(turn, partition, toRunFact(source));
}

/**
 * Builds the fact of an ended run. Copies each member by name: this is faster than a spread, and every run that ends
 * has a fact.
 */
export function toRunFact({ run, outcome, taskId, config, openedBy, became, endedMs }: FactSource): RunFact {
  const { spent, calls } = run;
  const { harness, model, effort, profile } = config.station;
  return {
    runId: run.id,
    teamId: run.teamId,
    endedDay: toDay(endedMs),
    endedMs,
    queuedMs: run.queuedAtMs,
    startedMs: run.startedAt === null ? null : Date.parse(run.startedAt),
    taskId,
    openedBy,
    lineId: run.lineId,
    stationId: run.stationId,
    stationKey: run.stationKey,
    outcome,
    failure: run.failure?.code ?? null,
    taskOutcome: became?.outcome ?? null,
    next: became?.next ?? null,
    harness,
    model: model ?? DEFAULT_MODEL,
    reportedModel: run.reportedModel ?? null,
    effort,
    profile,
    fingerprint: run.fingerprint,
    repositories: config.repositories.map(({ name }) => name),
    skillsGiven: config.skills.map(({ key }) => key),
    servers: calls?.servers ?? [],
    refused: calls?.refused ?? [],
    skillsRead: calls?.skillsRead ?? [],
    spent: spent === null ? [] : [boundMoney(spent)],
    priced: spent !== null,
    steps: run.steps,
  };
}
