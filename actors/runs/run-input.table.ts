import { z } from "zod";
import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import type { RunConfig } from "../lines/fingerprint.js";
import type { RepositoryCommit } from "../runners/commit-frames.js";
import type { JobSearch } from "../runners/job.js";
import { indexedTable } from "../tables/indexed-table.js";
import { derivedRows } from "../tables/table-declaration.js";
import { digestsOfText, getText } from "../tables/text-blobs.js";
import type { RunTools } from "./frozen-tools.js";
import type { ReplayTerms } from "./replay-terms.js";
import { digestsOfAnswer } from "./run-answer.js";
import type { RunBrief } from "./run-owner.js";

/**
 * The input of a run. The runner's job is built from this row, the current secrets and the stored packs. Each run has
 * its own row, so that the run can be repeated. Diffs, notes and skills are bodies (`tables/blobs.ts`), named by their
 * digests.
 *
 * 1. The turn that queues the run fixes its config and its beginning.
 * 2. The turn that claims the run fixes the agent's brief.
 * 3. If the beginning leaves a commit open, the runner's first report of that commit fixes it.
 */
export interface RunInputRow {
  readonly runId: string;
  /** All settings that affect the run. */
  readonly config: RunConfig;
  /** The run's starting point. Null if the run ended in a release that did not store the starting point. */
  readonly beginning: RunBeginning | null;
  /**
   * The part that is fixed at the claim. Null before the claim, and for a run that ended in a release that did not
   * store this part.
   */
  readonly claimed: ClaimedInput | null;
}

export interface RunBeginning {
  /**
   * The run that this run repeats; this run's agent receives the brief of that run. Absent if this run repeats no run.
   */
  readonly repeats?: string;
  readonly line: { readonly key: string; readonly name: string };
  readonly station: {
    readonly name: string;
    /** Keys of the stations that the run may hand over to. */
    readonly passesTo: readonly string[];
    /** The stations in `passesTo` that come later in the line. */
    readonly next: readonly string[];
  };
  /** One checkout for each repository of the config, in the same order. */
  readonly checkouts: readonly InputCheckout[];
  /** The tools that the agent may call; absent for none. */
  readonly tools?: RunTools;
  /** Whether the runner may be asked to push the run's changes; absent for no. */
  readonly push?: true;
  /** The terms of a replay run; absent unless the run belongs to a replay. */
  readonly replay?: ReplayTerms;
  /** The agent's work in a search; absent unless the run belongs to a search. */
  readonly search?: JobSearch;
}

export interface InputCheckout {
  readonly repository: string;
  /**
   * The commit to start from. Null means the head of the default branch, and is replaced when the runner reports the
   * head's commit.
   */
  readonly base: string | null;
  /** Digest of the diff to apply to `base` first; null for none. */
  readonly diff: string | null;
  /**
   * The branch to start from, at its head. When the runner reports the head's commit, that commit replaces `base`. If
   * the repository lacks the branch, the run starts from `base` and `diff`. Absent for no branch.
   */
  readonly branch?: string;
  /**
   * The branch whose head the runner merges in before the agent starts (`HEAD` for the default branch). `commit` is
   * null until the runner reports the merged commit. Absent for no merge.
   */
  readonly merges?: { readonly branch: string; readonly commit: string | null };
  /**
   * Whether the runner has reported the commit at which it started on `branch`. Absent before the report, and if there
   * is no branch.
   */
  readonly isBegun?: true;
}

export interface ClaimedInput {
  /** The brief for the agent. Null if the owner gives its runs no brief, as a search does. */
  readonly brief: InputBrief | null;
  /** The version of each secret's value, by the secret's name; null for a secret that does not exist. */
  readonly secrets: Readonly<Record<string, number | null>>;
}

export interface InputBrief extends Omit<RunBrief, "notes"> {
  /** Digest of the body that contains the notes as JSON; null if there are no notes. */
  readonly notes: string | null;
}

/** Key: `[commit, repository, run]`. Value: true. The runs that started from a commit. */
export const runBases = table<true>("run-base");

/** Key: `[run]`. */
export const runInputs = indexedTable<RunInputRow>("run-input", {
  order: ["runId"],
  derived: [
    derivedRows(runBases, (input) =>
      listBases(input).map(({ commit, repository }) => [[commit, repository, input.runId], true]),
    ),
  ],
  blobs: listBodies,
});

/** Lists the known commits that a run started from, including merged commits. */
export function listBases({ beginning }: Pick<RunInputRow, "beginning">): readonly RepositoryCommit[] {
  const checkouts = beginning?.checkouts ?? [];
  return checkouts.flatMap(({ repository, base, merges }) =>
    [base, merges?.commit ?? null].flatMap((commit) => (commit === null ? [] : [{ repository, commit }])),
  );
}

const notesSchema = z.array(z.object({ at: z.string(), from: z.string(), text: z.string() }));

/** Reads the notes of a brief, oldest first; empty for a null digest. */
export function readNotes(reading: Reading, workspaceId: string, digest: string | null): RunBrief["notes"] {
  return digest === null ? [] : notesSchema.parse(JSON.parse(getText(reading, workspaceId, digest)));
}

function listBodies({ config, beginning, claimed }: RunInputRow): string[] {
  const skills = config.skills.map(({ digest }) => digest);
  const diffs = beginning?.checkouts.map(({ diff }) => diff) ?? [];
  const texts = digestsOfText(claimed?.brief?.description ?? "");
  const files = claimed?.brief?.attachments?.map(({ digest }) => digest) ?? [];
  const answer = beginning?.replay?.answer;
  const answered = answer === undefined ? [] : digestsOfAnswer(answer);
  const named = [...skills, ...diffs, ...texts, ...files, ...answered, claimed?.brief?.notes, beginning?.tools?.digest];
  return named.filter((digest) => digest !== null && digest !== undefined);
}

/** Returns the input of a run, which exists from `run.start` on. */
export function getRunInput(reading: Reading, workspaceId: string, runId: string): RunInputRow {
  const input = runInputs.get(reading, workspaceId, runId);
  if (input === undefined) throw new Error("a run without its input");
  return input;
}
