import { z } from "zod";
import { defineTool } from "./tool.js";
import {
  approvalView,
  describeApproval,
  describeList,
  describeTask,
  taskView,
  toApprovalView,
  toListText,
  toTaskView,
  untrusted,
} from "./views.js";

const itemView = z.object({
  id: z.string().describe("The id of the approval, or else of the task"),
  kind: z.string().describe("approval, question or failure"),
  since: z.string(),
  task: taskView,
  approval: approvalView.nullable(),
  untrusted: untrusted({ asks: z.string().nullable().describe("The question, or why the task cannot go on") }),
});

const inbox = defineTool({
  name: "inbox",
  description:
    "List the questions, failures and approvals that wait for a person in all teams, the longest wait first.",
  effect: { kind: "reads" },
  input: z.strictObject({
    assignee: z
      .enum(["me", "none", "all"])
      .optional()
      .describe("me (default): what only the person can decide. none: of tasks without an assignee."),
    workspace: z.string().max(100).optional().describe("Only of the workspace with this slug"),
    limit: z.int().min(1).max(50).default(20),
    after: z.string().max(100).optional().describe("The value of next in the result of the page before"),
  }),
  output: z.object({
    items: z.array(itemView),
    counts: z.object({ me: z.number(), none: z.number(), all: z.number() }),
    next: z.string().nullable(),
  }),
  run: async ({ context }, { assignee, workspace, limit, after }) => {
    const query = {
      assignee: assignee ?? (context.login.token === undefined ? ("me" as const) : ("all" as const)),
      limit,
      ...(workspace === undefined ? {} : { workspace }),
      ...(after === undefined ? {} : { after }),
    };
    const { items: waiting, counts, next } = await context.client.get("/api/inbox", { query });
    const items = waiting.map(({ id, kind, since, task, approval, asks }) => ({
      id,
      kind,
      since,
      task: toTaskView(task),
      approval: approval === null ? null : toApprovalView(approval),
      untrusted: { asks: toListText(asks, "task_show") },
    }));
    const more = next === null ? null : `call inbox with after: ${next}`;
    const lines = items.map(({ kind, since, task, approval, untrusted: { asks } }) => {
      const what = approval === null ? (asks ?? "") : describeApproval(approval);
      return `${kind} since ${since}: ${describeTask(task)}\n  ${what}`;
    });
    return {
      says: `${describeList(items.length, "item", more)}. Waiting: ${counts.me} for the person, ${counts.none} unassigned, ${counts.all} in all.`,
      texts: [{ of: "items", text: lines.join("\n") }],
      data: { items, counts, next },
    };
  },
});

export const inboxTools = [inbox];
