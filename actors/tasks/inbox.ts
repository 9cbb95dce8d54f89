import { z } from "zod";
import { failureSchema } from "../runners/protocol.js";
import type { ApprovalRow } from "../runs/approval.js";
import { approvalSchema } from "../runs/approval.js";
import { type TaskRow, taskItemSchema } from "./task.js";

/** An item of the inbox: an approval, a question or a failure that waits for a person. */
export const inboxItemSchema = z
  .strictObject({
    id: z.string().describe("The id of the approval, or else of the task."),
    kind: z
      .enum(["approval", "question", "failure"])
      .describe(
        "`approval`: a call needs approval. `question`: an agent leaves a decision to the assignee. `failure`: the " +
          "task cannot go on.",
      ),
    since: z.string().describe("Start of the wait."),
    task: taskItemSchema,
    runId: z.string().nullable().describe("The run that the item is about; null if there is none."),
    asks: z
      .string()
      .nullable()
      .describe("The question, or why the task cannot go on. Null for an approval: see its tool, inputs and reason."),
    failure: failureSchema.nullable().describe("The failure of the last run; null if it did not fail."),
    approval: approvalSchema.nullable().describe("Null for a question and a failure."),
  })
  .meta({ title: "inbox-item" });

/** An item that is or was in the inbox. */
export const inboxItemDetailSchema = inboxItemSchema
  .extend({
    gone: z
      .strictObject({
        by: z.string().nullable().describe("The person's user id; null for the service."),
        what: z
          .enum(["approved", "edited", "dismissed", "answered", "retried", "moved", "closed", "expired"])
          .describe("`edited`: approved with other inputs. `expired`: nobody answered in time."),
        at: z.string().describe("When the wait ended, as an RFC 3339 time."),
      })
      .nullable()
      .describe("What ended the wait; null while the item waits."),
  })
  .meta({ title: "inbox-item with its end" });

/** An item with the rows that it shows. */
export interface InboxItem {
  readonly workspaceId: string;
  readonly task: TaskRow;
  /** The approval; null if the item is a question or a failure of the task. */
  readonly approval: ApprovalRow | null;
}
