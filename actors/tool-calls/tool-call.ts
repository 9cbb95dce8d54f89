import { z } from "zod";
import type { ApprovalRule } from "../runs/approval.js";
import type { StoredText } from "../tables/text-blobs.js";
import type { Stored } from "../view.js";

/** The states of a call (`tool-call.machine.ts`). In the first three states, the call is open. */
export const toolCallStates = [
  ...(["vetting", "waiting", "running"] as const),
  ...(["done", "failed", "dismissed", "refused", "withdrawn"] as const),
] as const;
/**
 * The reason for a failed call:
 *
 * - `invalid`: the inputs are invalid.
 * - `outcome-unknown`: nobody knows whether the request had an effect.
 * - Other codes: the request failed or could not be made (`integrations/requests/integration-request.ts`).
 */
export const toolCallCodes = [
  ...(["invalid", "not-connected", "not-allowed", "unwritable", "broken", "unreachable", "timeout"] as const),
  ...(["throttled", "server-error", "rejected", "unsuccessful", "errored", "outcome-unknown"] as const),
] as const;

const inputsSchema = z.record(z.string(), z.unknown());

/** A tool call of a run, as the API returns it. */
export const toolCallSchema = z
  .strictObject({
    id: z.string().describe("The id of the call (`call_…`)."),
    runId: z.string().describe("The run whose agent made the call."),
    taskId: z.string().describe("The task of the run; empty for a run without a task."),
    integration: z.string().describe("The key of the integration that offers the tool."),
    tool: z.string().describe("The name of the tool in the integration's definition."),
    state: z
      .enum(toolCallStates)
      .describe(
        "`vetting`: hooks decide about the call. `waiting`: the call needs approval. `running`: the request is " +
          "under way. `refused`: a hook refused it. `withdrawn`: the run ended, or its agent cancelled the call in time.",
      ),
    code: z.enum(toolCallCodes).nullable().describe("Why the call failed; null unless the state is `failed`."),
    message: z
      .string()
      .nullable()
      .describe(
        "Why the call did not succeed, or which parts of its answer have no value, in one sentence; otherwise " +
          "null.",
      ),
    approvalId: z.string().nullable().describe("The latest approval that the call needed; null if it needed none."),
    actsAs: z
      .string()
      .describe(
        "`team`, or the id of the person whose account the call uses; empty if the call failed before this was known.",
      ),
    askedAt: z.string().describe("When the agent made the call, as an RFC 3339 time."),
    begunAt: z.string().nullable().describe("When the service started the request; null if it has not started."),
    endedAt: z.string().nullable().describe("When the call ended, with or without success; null until then."),
    recorded: z
      .string()
      .nullable()
      .describe("In a replay run, the original run's call whose answer this call returned; null if there is none."),
    inputs: inputsSchema.describe(
      "The inputs with defaults. If the inputs are invalid, the inputs as the agent sent them.",
    ),
    edited: inputsSchema.nullable().describe("The inputs that replaced `inputs` on approval; null if unchanged."),
    output: z.unknown().describe("The output of the call; null if there is none."),
  })
  .meta({ title: "tool call" });
export type ToolCallState = (typeof toolCallStates)[number];
export type ToolCallCode = (typeof toolCallCodes)[number];

type StoredCall = Stored<typeof toolCallSchema, "taskId" | "inputs" | "edited" | "output" | "recorded">;

/** A call of an integration's tool by a run's agent. */
export interface ToolCallRow extends StoredCall {
  /** The task of the run; null for a run without a task. */
  readonly taskId: string | null;
  readonly teamId: string;
  /** The integration that offers the tool. Empty if it is unknown, for example if the run has no such tool. */
  readonly integrationId: string;
  /** Digest of the tool and the requested inputs (`asked-digest.ts`). Equal calls have the same digest. */
  readonly askedDigest: string;
  /** JSON text of the inputs with defaults. If the inputs are invalid, JSON text of the requested inputs. */
  readonly inputs: StoredText;
  /** JSON text of the inputs that replaced `inputs` on approval; null when unchanged. */
  readonly edited: StoredText | null;
  /**
   * The source of the rule that requires approval, fixed when the agent asks for the call; null if no rule requires it.
   */
  readonly rule: ApprovalRule | null;
  /**
   * Digest of the action, its request and its connection settings at the time of the approval request; absent if no
   * approval was requested.
   */
  readonly requestDigest?: string;
  /**
   * JSON text of the task as the call's request sees it. Fixed at the time of the approval request; absent if no
   * approval was requested.
   */
  readonly task?: StoredText;
  /** The HTTP method of the request; null before the request starts. */
  readonly method: string | null;
  /** JSON text of the call's output; null if there is none. */
  readonly output: StoredText | null;
  /** The text that the agent got; absent if this text is only the output or `message`. */
  readonly told?: StoredText;
  /** In a repeating run: the id of the recorded call that gave the answer. Absent if no recorded call gave it. */
  readonly recorded?: string;
}

/** An ended call that was not withdrawn. */
export interface RecordedCall extends ToolCallRow {
  readonly state: Exclude<ToolCallState, "vetting" | "waiting" | "running" | "withdrawn">;
}

/** The state of a call between turns. Kept small: the call's data is in its row. */
export interface ToolCallContext {
  readonly runId: string;
  /** The runner that waits for the outcome, and the fence of its claim. */
  readonly runnerId: string;
  readonly fence: number;
  /** Number of times that hooks were asked: once, and once more after each edit. */
  readonly vettings: number;
  /** Whether a person has approved the call. After that only hooks are asked again. */
  readonly approved: boolean;
  /** Whether the run has ended, so that nobody waits for the outcome. */
  readonly runEnded: boolean;
}
