import type { DirectoryEntry } from "../../runtime/directories/directory.js";
import { rowSource } from "../../runtime/directories/directory-source.js";
import { toChangeEntry, topic } from "../../runtime/feeds/topic.js";
import { table } from "../../storage/table.js";
import { locationEntry } from "../resources/resource-location.table.js";
import type { CheckoutResult } from "../runners/protocol.js";
import type { QueuedRun } from "../runners/runner.table.js";
import { changedMembers } from "../tables/changed-members.js";
import { indexedTable } from "../tables/indexed-table.js";
import { storedAs } from "../tables/table-declaration.js";
import { digestsOfText, type StoredText } from "../tables/text-blobs.js";
import type { RunRow, StepRow } from "./run.js";
import { runRowView } from "./run-row.view.js";

type RunRowView = ReturnType<typeof runRowView>;

/**
 * The changes of a run's row, as published in the run's stream: the id and the changed members, or all members of a new
 * run.
 */
const runTopic = topic<{ readonly type: "run"; readonly run: Pick<RunRowView, "id"> & Partial<RunRowView> }>("run");

/**
 * Key: `[run]`. Ids increase with time. When a step is added, the row publishes no stream entry, because the step's
 * entry includes the run's changes.
 */
export const runs = indexedTable<RunRow>("run", {
  order: ["id"],
  indexes: { "task-run": { by: ["taskId"], has: ["taskId"] } },
  changes: (run, _reading, { before, first }) => {
    if (before !== null && before.steps !== run.steps) return [];
    const changed = changedMembers(first === null ? null : runRowView(first), runRowView(run));
    if (Object.keys(changed).length === 0) return [];
    return [toChangeEntry(runTopic(run.id), { type: "run", run: { ...changed, id: run.id } })];
  },
});
/** A step as stored in its row. */
export interface StoredStep extends Omit<StepRow, "text"> {
  /** Not part of the stored value: read from the row's key. */
  readonly runId: string;
  readonly text: StoredText;
}

/** Key: `[run, index]`. Written and read through `run-steps.ts`. */
export const runSteps = indexedTable<StoredStep>("run-step", {
  under: ["runId"],
  order: ["index"],
  stored: storedAs(
    ({ runId: _run, ...step }: StoredStep) => step,
    (step, key) => ({ ...step, runId: String(key.at(-2)) }),
  ),
  blobs: ({ text }) => digestsOfText(text),
});
/** Key: `[run, n]`. Value: the step of the n-th message to the run, counted from 1. */
export const runMessages = table<{ readonly index: number; readonly by: string }>("run-said");
/** Key: `[run, person, idempotency key]`. Value: the step of the message with that key. */
export const runMessageKeys = table<{ readonly index: number }>("run-said-once");
/** The changes of a run in one repository. */
export interface RunCheckoutRow extends Omit<CheckoutResult, "diff" | "own"> {
  readonly runId: string;
  /** Digest of the diff against `base`; null if nothing changed. */
  readonly digest: string | null;
  /**
   * Digest of the run's own changes (see `own` in {@link CheckoutResult}); null if the reported diff is empty. Absent
   * if the runner reported none.
   */
  readonly own?: string | null;
}

/** Key: `[run, repository]`. */
export const runCheckouts = indexedTable<RunCheckoutRow>("run-checkout", {
  under: ["runId"],
  order: ["repository"],
  blobs: ({ digest, own = null }) => [digest, own].filter((body) => body !== null),
});

/** Converts the run to the form of the dispatcher's queue. */
export function toQueuedRun({ id: runId, queuedAtMs, needs, lane }: RunRow): QueuedRun {
  return { runId, ...needs, queuedAtMs, ...(lane === undefined ? {} : { lane }) };
}

/** The directory entry that locates a run by its id. */
export function runEntry(workspaceId: string, runId: string): DirectoryEntry {
  return locationEntry(runId, { workspaceId, kind: "run" });
}

/** Derives the directory entries that locate runs by id from the runs' rows, to rebuild the directory. */
export const runSource = rowSource(runs, ({ id }, { partition }) => [runEntry(partition, id)]);
