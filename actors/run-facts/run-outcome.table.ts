import { table } from "../../storage/table.js";

/**
 * What became of a run in its task: its change went on until the task was done, or was sent back to its station or an
 * earlier one; it asked a person; it failed. `other` is anything else, and a run whose change goes on still.
 */
export const taskOutcomes = ["accepted", "sent-back", "asked", "failed", "other"] as const;
export type TaskOutcome = (typeof taskOutcomes)[number];

/**
 * What a person did with the task next after a run: had another run started, stopped what ran (`parked`), closed the
 * task, answered what it asked, or moved it back to an earlier station.
 */
export const nextActs = ["started", "parked", "closed", "answered", "sent-back"] as const;
export type NextAct = (typeof nextActs)[number];

export interface RunOutcomeRow {
  readonly outcome: TaskOutcome;
  /** Null until a person does something. */
  readonly next: { readonly act: NextAct; readonly at: string } | null;
}

/** `[run]`: there is none for a run under way, and for one that ended before this was recorded. */
export const runOutcomes = table<RunOutcomeRow>("run-outcome");
