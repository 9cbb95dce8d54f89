import { z } from "zod";
import type { Reading } from "../../storage/store.js";
import { findLine } from "../lines/line.queries.js";
import { shownOpenerSchema, toShownOpener } from "../run-facts/opener.js";
import { failureSchema } from "../runners/protocol.js";
import { listAssigneesApprovals } from "../runs/approvals.js";
import { readStoredText, type StoredText, toStreamText } from "../tables/text-blobs.js";
import type { TaskRow } from "./task.js";

/** A task as lists and streams return it. */
export const taskItemSchema = z
  .strictObject({
    id: z.string(),
    title: z.string(),
    description: z.string(),
    url: z.string(),
    teamId: z.string(),
    lineId: z.string(),
    line: z.string(),
    station: z.string(),
    state: z.enum(["queued", "running", "inbox", "done", "closed"]),
    assignee: z.string().nullable(),
    /** Null if unknown. */
    openedBy: shownOpenerSchema.nullable(),
    /** The value of each mark, by kind. */
    marks: z.record(z.string(), z.string()),
    /** The branch at which the task's runs start; null for the default branch. */
    branch: z.string().nullable(),
    reviews: z
      .strictObject({ repository: z.string().nullable(), ref: z.string(), url: z.string().nullable() })
      .optional()
      .describe("What its runs review; absent for a task that changes things."),
    /** The open pull request, or else the latest one; null if there is none. */
    pullRequest: z
      .strictObject({
        id: z.string(),
        repository: z.string(),
        number: z.int(),
        url: z.string(),
        state: z.enum(["open", "merged", "closed"]),
      })
      .nullable(),
    runId: z.string().nullable(),
    /** The question or notice for the assignee. */
    asks: z.string().nullable(),
    /** The open approvals of the task's run, oldest first. The assignee answers them. */
    approvals: z.array(z.strictObject({ id: z.string(), runId: z.string(), tool: z.string(), askedAt: z.string() })),
    failure: failureSchema.nullable(),
    openedAt: z.string(),
    movedAt: z.string(),
  })
  .meta({ title: "task in a list" });

/** Returns the task without its notes. */
export function taskItemView(reading: Reading, workspaceId: string, task: TaskRow): z.output<typeof taskItemSchema> {
  return toItem(reading, workspaceId, task, readStoredText(reading, workspaceId, task.description));
}

/** A task in the form that streams send. A long description is only available in the API. */
export type StreamedTask = Omit<z.output<typeof taskItemSchema>, "description"> & { readonly description: StoredText };

/** Returns the task without its notes, in the form that streams send. */
export function streamedTaskView(reading: Reading, workspaceId: string, task: TaskRow): StreamedTask {
  return toItem(reading, workspaceId, task, toStreamText(task.description));
}

/** Copied member by member for speed: every change of a task passes here. */
function toItem<Description>(reading: Reading, workspaceId: string, task: TaskRow, description: Description) {
  const item = {
    id: task.id,
    teamId: task.teamId,
    lineId: task.lineId,
    title: task.title,
    url: task.url,
    assignee: task.assignee,
    openedBy: toShownOpener(task.openedBy),
    station: task.station,
    state: task.state,
    pullRequest: task.pullRequest,
    runId: task.runId,
    asks: task.asks,
    failure: task.failure,
    openedAt: task.openedAt,
    movedAt: task.movedAt,
    description,
    marks: { ...task.marks },
    branch: task.branch ?? null,
    line: findLine(reading, workspaceId, task.lineId)?.key ?? "",
    approvals: openApprovalsView(reading, workspaceId, task),
  };
  return task.reviews === undefined ? item : { ...item, reviews: task.reviews };
}

/** Returns the open approvals without their inputs. Only callers who may read outcomes see inputs. */
function openApprovalsView(reading: Reading, workspaceId: string, { state, runId }: TaskRow) {
  if (state !== "inbox" || runId === null) return [];
  const open = listAssigneesApprovals(reading, workspaceId, runId);
  return open.map(({ id, tool, askedAt }) => ({ id, runId, tool, askedAt }));
}
