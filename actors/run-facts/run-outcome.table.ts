import { table } from "../../storage/table.js";

/**
 * The outcome of a run in its task.
 *
 * - `accepted`: the run's change stayed until the task was done.
 * - `sent-back`: the task returned to the run's station or an earlier one.
 * - `asked`: the run asked a person.
 * - `failed`: the run failed.
 * - `other`: anything else, including a run whose change is neither accepted nor sent back yet.
 */
export const taskOutcomes = ["accepted", "sent-back", "asked", "failed", "other"] as const;
export type TaskOutcome = (typeof taskOutcomes)[number];

/**
 * The next action of a person on the task after a run:
 *
 * - `started`: the person started another run.
 * - `parked`: the person stopped the active run.
 * - `closed`: the person closed the task.
 * - `answered`: the person answered the task's question.
 * - `sent-back`: the person moved the task back to an earlier station.
 */
export const nextActs = ["started", "parked", "closed", "answered", "sent-back"] as const;
export type NextAct = (typeof nextActs)[number];

export interface RunOutcomeRow {
  readonly outcome: TaskOutcome;
  /** Null until a person acts. */
  readonly next: { readonly act: NextAct; readonly at: string } | null;
}

/** Key: `[run]`. Runs that ended before outcomes were recorded have no row. */
export const runOutcomes = table<RunOutcomeRow>("run-outcome");
