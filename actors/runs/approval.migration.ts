import { rowSpace } from "../../storage/keys.js";
import { eachRow, putRow } from "../../storage/migration-walks.js";
import type { Walk } from "../../storage/migrations.js";

interface OldApproval {
  readonly id: string;
  readonly runId: string;
  readonly state: string;
  /** Only present in migrated rows. */
  readonly approver?: string | null;
}

/**
 * Adds to each approval the person who may answer it: the assignee of the run's task. Indexes open approvals by
 * approver.
 */
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
