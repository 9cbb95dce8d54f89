import { z } from "zod";
import type { Schema } from "../../client/entry.js";
import { People } from "../work/people.js";
import type { Decision } from "./decisions.js";
import { taskInput, toChanged } from "./task-tools.js";
import { commonInputs, defineTool, type Tool, type ToolCall } from "./tool.js";
import { taskView } from "./views.js";

interface TaskDecision<Shape extends z.ZodRawShape> {
  readonly decision: Decision;
  readonly description: string;
  /** The inputs of the tool in addition to the task. */
  readonly inputs: Shape;
  /** Sends the change to the service. */
  readonly change: (
    call: ToolCall,
    path: { readonly taskId: string },
    input: z.output<z.ZodObject<Shape>>,
  ) => Promise<Schema<"Task">>;
  /** The start of the result's sentence, such as `Answered`. */
  readonly says: string;
}

function defineDecision<Shape extends z.ZodRawShape>(definition: TaskDecision<Shape>): Tool {
  const { decision, description, inputs, change, says } = definition;
  const own = z.object(inputs);
  const { team, idempotencyKey } = commonInputs;
  return defineTool({
    name: `task_${decision}`,
    description,
    effect: { kind: "decides", decision },
    input: z.strictObject({ ...inputs, task: taskInput, team, idempotencyKey }),
    output: taskView,
    run: async (call, input) => {
      const { task } = z.object({ task: taskInput }).parse(input);
      const path = { taskId: await call.context.names.task(task) };
      return toChanged(await change(call, path, own.parse(input)), says);
    },
  });
}

/**
 * The tools that make a decision about a task. Each tool is offered only if the person allows its `decision`
 * (`--allow`).
 */
export const taskDecisionTools = [
  defineDecision({
    decision: "answer",
    description: "Answer the question of a task that is assigned to the person. The agent then continues.",
    inputs: { text: z.string().min(1).describe("The answer") },
    change: ({ context, idempotencyKey }, path, { text }) =>
      context.client.post("/api/tasks/{taskId}/answer", { path, body: { text }, idempotencyKey }),
    says: "Answered",
  }),
  defineDecision({
    decision: "assign",
    description: "Assign a task to a person, or to nobody.",
    inputs: { to: z.string().min(1).max(300).describe("Mail address, name or id of a person; me or none") },
    change: async ({ context, idempotencyKey }, path, { to }) => {
      const { teamId } = await context.client.get("/api/tasks/{taskId}", { path });
      const assignee = await (await People.ofTeam(context, teamId)).find(context, to);
      return await context.client.post("/api/tasks/{taskId}/assign", { path, body: { assignee }, idempotencyKey });
    },
    says: "Assigned",
  }),
  defineDecision({
    decision: "move",
    description: "Move a task to a station of its line, where it runs. A current run is superseded.",
    inputs: { station: z.string().min(1).max(100).describe("Key of the station") },
    change: ({ context, idempotencyKey }, path, { station }) =>
      context.client.post("/api/tasks/{taskId}/move", { path, body: { to: station }, idempotencyKey }),
    says: "Moved",
  }),
  defineDecision({
    decision: "retry",
    description: "Run the station of a task again.",
    inputs: {},
    change: ({ context, idempotencyKey }, path) =>
      context.client.post("/api/tasks/{taskId}/retry", { path, body: {}, idempotencyKey }),
    says: "The station runs again",
  }),
  defineDecision({
    decision: "stop",
    description: "Stop the run of a task that is assigned to the person.",
    inputs: {},
    change: ({ context, idempotencyKey }, path) =>
      context.client.post("/api/tasks/{taskId}/stop", { path, body: {}, idempotencyKey }),
    says: "Stopping the run",
  }),
  defineDecision({
    decision: "close",
    description: "Close a task and cancel its run. A closed task does not open again.",
    inputs: {},
    change: ({ context, idempotencyKey }, path) =>
      context.client.post("/api/tasks/{taskId}/close", { path, body: {}, idempotencyKey }),
    says: "Closed",
  }),
];
