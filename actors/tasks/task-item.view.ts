import { z } from "zod";
import type { Reading } from "../../storage/store.js";
import { findLine } from "../lines/line.queries.js";
import { toShownOpener } from "../opener.js";
import type { ApprovalRow } from "../runs/approval.js";
import { listAssigneesApprovals } from "../runs/approvals.js";
import { readStoredText, type StoredText, toStreamText } from "../tables/text-blobs.js";
import { defineView, type Shown } from "../view.js";
import { openApprovalSchema, type TaskRow, taskItemSchema } from "./task.js";

const openApprovalView = defineView<ApprovalRow>()(openApprovalSchema, {});

interface Sources {
  readonly reading: Reading;
  readonly workspaceId: string;
}

const common = {
  openedBy: ({ openedBy }: TaskRow) => toShownOpener(openedBy),
  branch: ({ branch }: TaskRow) => branch ?? null,
  line: ({ lineId }: TaskRow, { reading, workspaceId }: Sources) => findLine(reading, workspaceId, lineId)?.key ?? "",
  approvals: openApprovalsView,
};

const showItem = defineView<TaskRow, Sources>()(taskItemSchema, {
  ...common,
  description: ({ description }, { reading, workspaceId }) => readStoredText(reading, workspaceId, description),
});

/** Returns the task without its notes. */
export function taskItemView(reading: Reading, workspaceId: string, task: TaskRow): Shown<typeof taskItemSchema> {
  return showItem(task, { reading, workspaceId });
}

/** A task in the form that streams send. A long description is only available in the API. */
const streamedTaskSchema = taskItemSchema.extend({ description: z.custom<StoredText>() });
export type StreamedTask = Shown<typeof streamedTaskSchema>;

const showStreamed = defineView<TaskRow, Sources>()(streamedTaskSchema, {
  ...common,
  description: ({ description }) => toStreamText(description),
});

/** Returns the task without its notes, in the form that streams send. */
export function streamedTaskView(reading: Reading, workspaceId: string, task: TaskRow): StreamedTask {
  return showStreamed(task, { reading, workspaceId });
}

/**
 * Returns the open approvals that the task asks its assignee for, without their inputs. Only callers who may read
 * outcomes see inputs.
 */
function openApprovalsView({ state, runId }: TaskRow, { reading, workspaceId }: Sources) {
  if (state !== "inbox" || runId === null) return [];
  return listAssigneesApprovals(reading, workspaceId, runId).map(openApprovalView);
}
