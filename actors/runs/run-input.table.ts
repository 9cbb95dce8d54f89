import type { Reading } from "../../storage/store.js";
import type { RunConfig } from "../lines/fingerprint.js";
import { indexedTable } from "../tables/indexed-table.js";
import type { RunBrief } from "./run-owner.js";

/**
 * What a run is given, one row a run. The job that a runner gets is made of it, with the values of secrets as the only
 * addition. It is kept with the run, so that the run can be repeated. Diffs, notes and skills are bodies
 * (`tables/blobs.ts`), named by their digests.
 *
 * 1. What a run runs with and begins from is fixed in the turn that queues it.
 * 2. What its agent is told is fixed in the turn that claims it.
 */
export interface RunInputRow {
  readonly runId: string;
  /** The station's and the repositories' settings. */
  readonly config: RunConfig;
  /** What the run begins from; null for a run that ended before this was kept. */
  readonly beginning: RunBeginning | null;
  /** What its agent is told; null before a runner claimed the run, and for a run that ended before this was kept. */
  readonly claimed: ClaimedInput | null;
}

export interface RunBeginning {
  readonly line: { readonly key: string; readonly name: string };
  readonly station: {
    readonly name: string;
    /** Keys of the stations that it may hand over to. */
    readonly passesTo: readonly string[];
    /** Those of them that come later in the line. */
    readonly next: readonly string[];
  };
  /** One for each repository of the config, in the same order. */
  readonly checkouts: readonly InputCheckout[];
}

export interface InputCheckout {
  readonly repository: string;
  /** The commit to begin from; null for the head of the default branch. */
  readonly base: string | null;
  /** Digest of what was changed since `base`, to apply first; null for nothing. */
  readonly diff: string | null;
}

export interface ClaimedInput {
  /** Null where no task stands behind the run. */
  readonly brief: InputBrief | null;
  /** By name, the version of each secret's value; null for one that is gone. */
  readonly secrets: Readonly<Record<string, number | null>>;
}

export interface InputBrief extends Omit<RunBrief, "notes"> {
  /** Digest of the notes, as JSON; null for none. */
  readonly notes: string | null;
}

/** `[run]` */
export const runInputs = indexedTable<RunInputRow>("run-input", { order: ["runId"], blobs: bodiesOf });

function bodiesOf({ config, beginning, claimed }: RunInputRow): string[] {
  const skills = config.skills.map(({ digest }) => digest);
  const diffs = beginning?.checkouts.map(({ diff }) => diff) ?? [];
  return [...skills, ...diffs, claimed?.brief?.notes ?? null].filter((digest) => digest !== null);
}

/** The input of a run that was queued. */
export function getRunInput(reading: Reading, workspaceId: string, runId: string): RunInputRow {
  const input = runInputs.get(reading, workspaceId, runId);
  if (input === undefined) throw new Error("a run without its input");
  return input;
}
