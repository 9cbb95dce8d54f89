import type { Turn } from "../../runtime/turns/turn.js";
import type { Reading } from "../../storage/store.js";
import type { TablePage } from "../../storage/table.js";
import { type ListPage, readListPage } from "../tables/list-page.js";
import { readStoredText, toStoredText } from "../tables/text-blobs.js";
import type { StepRow } from "./run.js";
import { runSteps, type StoredStep } from "./run.table.js";

/** Stores a step. A long text is stored as a body. */
export function storeStep(turn: Turn, runId: string, step: StepRow): void {
  const { partition } = turn.self;
  runSteps.insert(turn, partition, { ...step, runId, text: toStoredText(turn, partition, step.text) });
}

/** Finds a step and reads its whole text; null if there is none. */
export function findStep(reading: Reading, workspaceId: string, runId: string, index: number): StepRow | null {
  const stored = runSteps.get(reading, workspaceId, runId, index);
  return stored === undefined ? null : toStep(reading, workspaceId, stored);
}

/** Lists steps of a run with their whole texts, in order. */
export function listSteps(reading: Reading, workspaceId: string, runId: string, page: TablePage): StepRow[] {
  return runSteps.list(reading, workspaceId, [runId], page).map((stored) => toStep(reading, workspaceId, stored));
}

/** Selects the steps after an index. */
export interface StepPage {
  readonly after: number;
  readonly limit: number;
}

/** Lists the steps after an index with their whole texts, in order. The cursor of the next page is an index. */
export function listStepPage(reading: Reading, workspaceId: string, runId: string, page: StepPage): ListPage<StepRow> {
  const { rows, next } = readListPage(
    page,
    ({ after, limit }) => runSteps.list(reading, workspaceId, [runId], { after: [runId, after], limit }),
    ({ index }) => String(index),
  );
  return { rows: rows.map((stored) => toStep(reading, workspaceId, stored)), next };
}

function toStep(reading: Reading, workspaceId: string, { runId: _run, text, ...step }: StoredStep): StepRow {
  return { ...step, text: readStoredText(reading, workspaceId, text) };
}
