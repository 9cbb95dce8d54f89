import { z } from "zod";
import { inputsTextSchema } from "./call-inputs.js";
import { claim } from "./job.js";

/**
 * The protocol of a run's tools (feature `tools`), and its rules:
 *
 * 1. A run's tools are those of its job; they do not change while it runs. The runner offers them to the agent as MCP
 *    servers, one for each `server`.
 * 2. Each `run.tool-call` has an id of its own within the claim, and is answered by one `run.tool-answered` with that id,
 *    unless the claim ends before. The runner checks no inputs: the service does.
 * 3. Before the answer there may be any number of `run.tool-waiting`. While `for` is not null, the call waits for a
 *    person: the agent is told whom for, and the runner's clock of the station's timeout stands still. Null: it goes on.
 * 4. `run.tool-cancelled` says that the agent wants no answer any more. The call is answered all the same: `withdrawn` when
 *    it was not begun, which ends it, otherwise with its outcome, once that is there.
 * 5. A call with the same tool and canonical inputs as an open one of the run is the same call: the service answers both
 *    ids with its outcome, and makes it once. It is withdrawn when all its ids are cancelled.
 * 6. The claim's end ends every open call. Nothing about it is sent after the report of the run's end.
 */

/** Most calls of a run that are not answered; the runner refuses more. */
export const MAX_OPEN_TOOL_CALLS = 32;

/** Names of MCP servers and their tools, as clients take them. */
const mcpName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);

/** An id that the runner makes for each call. */
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

/** The agent has given a call up, or its program is gone. */
export const toolCancelledSchema = z.object({ type: z.literal("run.tool-cancelled"), ...claim, id });
export type ToolCancelled = z.infer<typeof toolCancelledSchema>;

/** A call waits for a person, or goes on. */
export const toolWaitingSchema = z.object({
  type: z.literal("run.tool-waiting"),
  ...claim,
  id: z.string(),
  /** The call's id in the service: `call_…`. */
  callId: z.string(),
  /** What it waits for, in a few words for the agent (`the assignee's approval`); null when it goes on. */
  for: z.string().nullable(),
});
export type ToolWaiting = z.infer<typeof toolWaitingSchema>;

/** The end of a call. */
export const toolAnsweredSchema = z.object({
  type: z.literal("run.tool-answered"),
  ...claim,
  id: z.string(),
  /**
   * `done`: made, with its output. `failed`: wrong inputs, or made without success, or nobody knows. `dismissed`: by a
   * person. `refused`: by a hook, or by the service. `withdrawn`: given up before it began. All but `done` are errors.
   */
  outcome: z.enum(["done", "failed", "dismissed", "refused", "withdrawn"]),
  /** What the agent is told: the output, or what went wrong. */
  text: z.string(),
  /** One sentence for the agent beside `text`: that a person changed the inputs. Absent for none. */
  note: z.string().optional(),
  /** The call's id in the service; null where none is kept: in replays, and for calls that it did not take. */
  callId: z.string().nullable(),
});
export type ToolAnswered = z.infer<typeof toolAnsweredSchema>;
