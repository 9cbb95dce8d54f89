import { z } from "zod";
import { inputsTextSchema } from "./call-inputs.js";
import { claim } from "./job.js";

/**
 * The protocol of a run's tools (feature `tools`), and its rules:
 *
 * 1. A run's tools are those of its job; they do not change while it runs. The runner exposes them to the agent as MCP
 *    servers, one for each `server`.
 * 2. Each `run.tool-call` has a unique id within the claim, and gets one answer, `run.tool-answered` with that id,
 *    unless the claim ends first. The service checks the inputs; the runner does not.
 * 3. Before the answer there may be any number of `run.tool-waiting`. While `for` is not null, the call waits for a
 *    person: the agent learns for whom, and the runner pauses the station's timeout. Null: the call continues.
 * 4. `run.tool-cancelled` means that the agent no longer needs an answer. The service still answers: `withdrawn` if the
 *    request has not started, which ends the call; otherwise with the outcome, once it is known.
 * 5. A call with the same tool and canonical inputs as an open call of the run is the same call: the service answers
 *    both ids with one outcome, and makes the request once. The call is withdrawn when all its ids are cancelled.
 * 6. The end of the claim ends every open call. No messages about calls follow the report of the run's end.
 */

/** Maximum number of unanswered calls of a run. The runner and the service refuse more. */
export const MAX_OPEN_TOOL_CALLS = 32;

/** Names of MCP servers and tools, in the form that clients accept. */
const mcpName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);

/** An id that the runner generates for each call. */
const id = z.string().min(1).max(100);

/** The agent calls a tool. */
export const toolCalledSchema = z.object({
  type: z.literal("run.tool-call"),
  ...claim,
  id,
  server: mcpName,
  tool: mcpName,
  /** The JSON text of an object, with the run's secrets masked. */
  inputs: inputsTextSchema,
});
export type ToolCalled = z.infer<typeof toolCalledSchema>;

/** The agent has cancelled a call, or its program has ended. */
export const toolCancelledSchema = z.object({ type: z.literal("run.tool-cancelled"), ...claim, id });
export type ToolCancelled = z.infer<typeof toolCancelledSchema>;

/** A call starts to wait for a person, or continues after a wait. */
export const toolWaitingSchema = z.object({
  type: z.literal("run.tool-waiting"),
  ...claim,
  id: z.string(),
  /** The call's id in the service: `call_…`. */
  callId: z.string(),
  /** What the call waits for, in a few words for the agent (`the assignee's approval`); null if the call continues. */
  for: z.string().nullable(),
});
export type ToolWaiting = z.infer<typeof toolWaitingSchema>;

/** The end of a call. */
export const toolAnsweredSchema = z.object({
  type: z.literal("run.tool-answered"),
  ...claim,
  id: z.string(),
  /**
   * `done`: the call succeeded. `failed`: the call could not be made, the request was unsuccessful, or its outcome is
   * unknown. `dismissed`: a person dismissed the call, or nobody answered in time. `refused`: a hook or the service
   * refused the call. `withdrawn`: the call was cancelled before its request started. All outcomes except `done` are
   * errors.
   */
  outcome: z.enum(["done", "failed", "dismissed", "refused", "withdrawn"]),
  /** The text for the agent: the output, or the error. */
  text: z.string(),
  /** An additional sentence for the agent: that a person changed the inputs. Absent for none. */
  note: z.string().optional(),
  /** The call's id in the service; null for a call that was refused without a record. */
  callId: z.string().nullable(),
});
export type ToolAnswered = z.infer<typeof toolAnsweredSchema>;
