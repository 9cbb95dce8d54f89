import { rowSpace } from "../../storage/keys.js";
import { eachRow, putRow, type RowLocation } from "../../storage/migration-walks.js";
import type { Walk } from "../../storage/migrations.js";
import type { Change } from "../../storage/store.js";

interface OldApproval {
  readonly id: string;
  readonly runId: string;
  readonly state: string;
  readonly approver: string | null;
  readonly askedAt: string;
  /** Only present in migrated rows. */
  readonly teamId?: string;
}

interface OldTask {
  readonly id: string;
  readonly teamId: string;
  readonly state: string;
  readonly assignee: string | null;
  readonly runId: string | null;
  readonly failure: unknown;
  readonly movedAt: string;
  readonly partSinceMs?: number;
  /** Only present in migrated rows. */
  readonly waits?: unknown;
}

interface OldRun {
  readonly teamId: string;
  readonly state: string;
  readonly outcome: string | null;
}

/**
 * Indexes open approvals, questions and failures. Approvals get the team of their run. A task in the inbox gets the
 * kind and the start of its wait. A task whose run has not ended gets neither, because such a task waits for approvals.
 */
export const inboxWalks: readonly Walk[] = [
  eachRow<OldApproval>("approval", (row, place) => {
    if (row.teamId !== undefined) return [];
    const { id, runId, state, approver, askedAt } = row;
    const teamId = findRun(place, runId)?.teamId ?? "";
    const wait = { index: "approval-wait", teamId, whom: approver, sinceMs: Date.parse(askedAt), id, value: runId };
    return [
      putRow(place, "approval", [runId, id], { ...row, teamId }),
      putRow(place, "approval-run", [id], runId),
      ...(state === "open" ? putWait(place, wait) : []),
    ];
  }),
  eachRow<OldTask>("task", (row, place) => {
    if (row.state !== "inbox" || row.waits !== undefined) return [];
    const { id, teamId, assignee, failure, movedAt, partSinceMs: sinceMs = Date.parse(movedAt) } = row;
    const run = findRun(place, row.runId ?? "");
    if (run !== undefined && run.state !== "ended") return [];
    const hasFailed = failure !== null || (run !== undefined && run.outcome !== "completed");
    const wait = { index: "task-wait", teamId, whom: assignee, sinceMs, id, value: "" };
    return [
      putRow(place, "task", [id], { ...row, waits: { kind: hasFailed ? "failure" : "question", sinceMs } }),
      ...putWait(place, wait),
    ];
  }),
];

function findRun({ reading, partition }: RowLocation, runId: string): OldRun | undefined {
  return reading.get<OldRun>([partition, rowSpace, "run", runId]);
}

interface NewWait {
  readonly index: string;
  readonly teamId: string;
  readonly whom: string | null;
  readonly sinceMs: number;
  readonly id: string;
  readonly value: string;
}

function putWait(place: RowLocation, { index, teamId, whom, sinceMs, id, value }: NewWait): Change[] {
  return ["all", whom ?? "none"].map((under) => putRow(place, index, [teamId, under, sinceMs, id], value));
}
