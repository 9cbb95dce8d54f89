import { z } from "zod";
import type { TextReference } from "../../runtime/feeds/feed-texts.js";
import type { Reading } from "../../storage/store.js";
import { readJson } from "../exact-json.js";
import { parseInputs } from "../runners/call-inputs.js";
import { readStoredText, type StoredText, toStreamText } from "../tables/text-blobs.js";
import { type ToolCallRow, toolCallCodes, toolCallStates } from "./tool-call.js";

const inputsSchema = z.record(z.string(), z.unknown());

/** A tool call of a run, as the API returns it. */
export const toolCallSchema = z
  .strictObject({
    id: z.string(),
    runId: z.string(),
    taskId: z.string().describe("Empty for a run without a task."),
    /** Key of the integration. */
    integration: z.string(),
    tool: z.string(),
    inputs: inputsSchema.describe("With defaults; as the agent gave them where they are wrong."),
    edited: inputsSchema.nullable().describe("The inputs that replaced them on approval; null when unchanged."),
    state: z.enum(toolCallStates),
    code: z.enum(toolCallCodes).nullable().describe("Why it failed; null unless it did."),
    message: z
      .string()
      .nullable()
      .describe("One sentence on how it ended, where it did not succeed, or on what of its answer has no value."),
    approvalId: z.string().nullable(),
    /** `team`, or the id of the person whose account the call uses. */
    actsAs: z.string(),
    output: z.unknown().describe("Null for none."),
    recorded: z
      .string()
      .nullable()
      .describe("In a run of a replay, the call of the repeated run whose answer it got; null for none."),
    askedAt: z.string(),
    /** Start of the request; null if it has not started. */
    begunAt: z.string().nullable(),
    endedAt: z.string().nullable(),
  })
  .meta({ title: "tool call" });
export type ToolCallView = z.output<typeof toolCallSchema>;

/** Returns the members that are the same in the API and in streams. */
function shownMembers(call: ToolCallRow) {
  const { id, runId, taskId, integration, tool, state, code, message, approvalId, actsAs } = call;
  const { askedAt, begunAt, endedAt, recorded = null } = call;
  return {
    id,
    runId,
    taskId: taskId ?? "",
    integration,
    tool,
    state,
    code,
    message,
    approvalId,
    actsAs,
    askedAt,
    begunAt,
    endedAt,
    recorded,
  };
}

export function toolCallView(reading: Reading, workspaceId: string, call: ToolCallRow): ToolCallView {
  const read = (stored: StoredText) => readStoredText(reading, workspaceId, stored);
  return {
    ...shownMembers(call),
    inputs: { ...parseInputs(read(call.inputs)) },
    edited: call.edited === null ? null : { ...parseInputs(read(call.edited)) },
    output: call.output === null ? null : readJson(read(call.output)),
  };
}

/** A call in the form that streams send. Long values are only available in the API. */
export interface StreamedToolCall extends Omit<ToolCallView, "inputs" | "edited" | "output"> {
  readonly inputs: unknown | TextReference;
  readonly edited: unknown | TextReference;
  readonly output: unknown | TextReference;
}

export function streamedToolCallView(call: ToolCallRow): StreamedToolCall {
  return {
    ...shownMembers(call),
    inputs: toStreamJson(call.inputs),
    edited: call.edited === null ? null : toStreamJson(call.edited),
    output: call.output === null ? null : toStreamJson(call.output),
  };
}

function toStreamJson(stored: StoredText): unknown {
  const text = toStreamText(stored);
  return typeof text === "string" ? readJson(text) : text;
}
