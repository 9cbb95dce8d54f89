import { z } from "zod";
import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import type { RunConfig } from "../lines/fingerprint.js";
import type { JobSearch } from "../runners/job.js";
import type { RepositoryCommit } from "../runners/kept-commit.js";
import { indexedTable } from "../tables/indexed-table.js";
import { derivedRows } from "../tables/table-declaration.js";
import { digestsOfText, getText } from "../tables/text-blobs.js";
import type { RunTools } from "./frozen-tools.js";
import type { ReplayTerms } from "./replay-terms.js";
import { digestsOfAnswer } from "./run-answer.js";
import type { RunBrief } from "./run-owner.js";

/**
 * The input of a run, one row for each run. The job of the runner is built from it; only the values of secrets are
 * added. It is stored with the run, so that the run can be repeated. Diffs, notes and skills are bodies
 * (`tables/blobs.ts`), named by their digests.
 *
 * 1. The config and the beginning of a run are fixed in the turn that queues it.
 * 2. The brief for its agent is fixed in the turn that claims it.
 * 3. A commit that was open in the beginning is fixed by the first report of the runner that names it.
 */
export interface RunInputRow {
  readonly runId: string;
  /** The station's and the repositories' settings. */
  readonly config: RunConfig;
  /** What the run begins from; null for a run that ended before this was stored. */
  readonly beginning: RunBeginning | null;
  /** The part fixed at the claim; null before the claim, and for a run that ended before this was stored. */
  readonly claimed: ClaimedInput | null;
}

export interface RunBeginning {
  /** The run that this one repeats, whose brief its agent is given; absent for none. */
  readonly repeats?: string;
  readonly line: { readonly key: string; readonly name: string };
  readonly station: {
    readonly name: string;
    /** Keys of the stations that the run may hand over to. */
    readonly passesTo: readonly string[];
    /** Those of `passesTo` that come later in the line. */
    readonly next: readonly string[];
  };
  /** One for each repository of the config, in the same order. */
  readonly checkouts: readonly InputCheckout[];
  /** The tools that its agent may call; absent for none. */
  readonly tools?: RunTools;
  /** Whether its runner may be asked to push what it has changed; absent for no. */
  readonly push?: true;
  /** Absent for a run that belongs to no replay. */
  readonly replay?: ReplayTerms;
  /** What the agent of a search does; absent for a run that belongs to none. */
  readonly search?: JobSearch;
}

export interface InputCheckout {
  readonly repository: string;
  /** The commit to begin from; null for the head of the default branch, until the runner reports which commit that is. */
  readonly base: string | null;
  /** Digest of the diff since `base` to apply first; null for none. */
  readonly diff: string | null;
  /**
   * The branch to begin at the head of: then `base` and `diff` hold where the repository has no such branch, until the
   * runner reports the commit at its head. Absent for none.
   */
  readonly branch?: string;
  /**
   * What is merged in before the agent starts: the head of the branch (`HEAD`: of the default one), until the runner
   * reports which commit that is. Absent for nothing.
   */
  readonly merges?: { readonly branch: string; readonly commit: string | null };
  /** Whether the runner reported what it began from at the branch; absent for not yet, and without a branch. */
  readonly isBegun?: true;
}

export interface ClaimedInput {
  /** Null for a run without a task. */
  readonly brief: InputBrief | null;
  /** The version of each secret's value, by name; null for a secret that does not exist. */
  readonly secrets: Readonly<Record<string, number | null>>;
}

export interface InputBrief extends Omit<RunBrief, "notes"> {
  /** Digest of the notes, as JSON; null for none. */
  readonly notes: string | null;
}

/** `[commit, repository, run]` -> true: the runs that began from a commit. */
export const runBases = table<true>("run-base");

/** `[run]` */
export const runInputs = indexedTable<RunInputRow>("run-input", {
  order: ["runId"],
  derived: [
    derivedRows(runBases, (input) =>
      basesOf(input).map(({ commit, repository }) => [[commit, repository, input.runId], true]),
    ),
  ],
  blobs: bodiesOf,
});

/** The commits that a run began from, as far as they are known, with those that were merged in. */
export function basesOf({ beginning }: Pick<RunInputRow, "beginning">): readonly RepositoryCommit[] {
  const checkouts = beginning?.checkouts ?? [];
  return checkouts.flatMap(({ repository, base, merges }) =>
    [base, merges?.commit ?? null].flatMap((commit) => (commit === null ? [] : [{ repository, commit }])),
  );
}

const notesSchema = z.array(z.object({ at: z.string(), from: z.string(), text: z.string() }));

/** The notes of a brief by their digest, oldest first; null for none. */
export function readNotes(reading: Reading, workspaceId: string, digest: string | null): RunBrief["notes"] {
  return digest === null ? [] : notesSchema.parse(JSON.parse(getText(reading, workspaceId, digest)));
}

function bodiesOf({ config, beginning, claimed }: RunInputRow): string[] {
  const skills = config.skills.map(({ digest }) => digest);
  const diffs = beginning?.checkouts.map(({ diff }) => diff) ?? [];
  const texts = digestsOfText(claimed?.brief?.description ?? "");
  const files = claimed?.brief?.attachments?.map(({ digest }) => digest) ?? [];
  const answer = beginning?.replay?.answer;
  const answered = answer === undefined ? [] : digestsOfAnswer(answer);
  const named = [...skills, ...diffs, ...texts, ...files, ...answered, claimed?.brief?.notes, beginning?.tools?.digest];
  return named.filter((digest) => digest !== null && digest !== undefined);
}

/** The input of a run, which exists from `run.start` on. */
export function getRunInput(reading: Reading, workspaceId: string, runId: string): RunInputRow {
  const input = runInputs.get(reading, workspaceId, runId);
  if (input === undefined) throw new Error("a run without its input");
  return input;
}
