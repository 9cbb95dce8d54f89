import { rowSpace } from "../../storage/keys.js";
import { eachRow, putRow } from "../../storage/migration-walks.js";
import type { Walk } from "../../storage/migrations.js";

interface OldApproval {
  readonly id: string;
  readonly runId: string;
  readonly state: string;
  /** Only in rows that were migrated. */
  readonly approver?: string | null;
}

/** Approvals did not say who may answer them: the assignee of the run's task. Now open ones are found by that person. */
export const approverWalks: readonly Walk[] = [
  eachRow<OldApproval>("approval", (row, place) => {
    if (row.approver !== undefined) return [];
    const { reading, partition } = place;
    const { id, runId, state } = row;
    const run = reading.get<{ readonly taskId: string | null }>([partition, rowSpace, "run", runId]);
    const taskId = run?.taskId ?? "";
    const task = reading.get<{ readonly assignee: string | null }>([partition, rowSpace, "task", taskId]);
    const approver = task?.assignee ?? null;
    const found = state === "open" && approver !== null;
    return [
      putRow(place, "approval", [runId, id], { ...row, approver }),
      ...(found ? [putRow(place, "approval-approver", [approver, runId, id], true)] : []),
    ];
  }),
];
