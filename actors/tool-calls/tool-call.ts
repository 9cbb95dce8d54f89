import type { ApprovalRule } from "../runs/approval.js";
import type { StoredText } from "../tables/text-blobs.js";

/** The states of a call (`tool-call.machine.ts`). The first three are the open ones. */
export const toolCallStates = [
  ...(["vetting", "waiting", "running"] as const),
  ...(["done", "failed", "dismissed", "refused", "withdrawn"] as const),
] as const;
export type ToolCallState = (typeof toolCallStates)[number];

/**
 * The reason for a failed call: `invalid` inputs, an unknown outcome (`outcome-unknown`), or the failure of its request
 * (`integrations/requests/integration-request.ts`).
 */
export const toolCallCodes = [
  ...(["invalid", "not-connected", "not-allowed", "unwritable", "broken", "unreachable", "timeout"] as const),
  ...(["throttled", "server-error", "rejected", "unsuccessful", "errored", "outcome-unknown"] as const),
] as const;
export type ToolCallCode = (typeof toolCallCodes)[number];

/** A call of an integration's tool by a run's agent. */
export interface ToolCallRow {
  readonly id: string;
  readonly runId: string;
  /** Null for a run without a task. */
  readonly taskId: string | null;
  readonly teamId: string;
  /** Key of the integration. */
  readonly integration: string;
  /** Empty if the run has no such tool. */
  readonly integrationId: string;
  readonly tool: string;
  /** Digest of the tool and the requested inputs (`asked-digest.ts`). Equal calls have the same digest. */
  readonly askedDigest: string;
  /** JSON text of the inputs with defaults; if they are invalid, of the requested inputs. */
  readonly inputs: StoredText;
  /** JSON text of the inputs that replaced `inputs` on approval; null when unchanged. */
  readonly edited: StoredText | null;
  readonly state: ToolCallState;
  readonly code: ToolCallCode | null;
  /** A sentence about the end of a call that did not succeed. */
  readonly message: string | null;
  readonly approvalId: string | null;
  /** The source of the rule that requires approval, fixed when the agent asks for the call; null for none. */
  readonly rule: ApprovalRule | null;
  /** Digest of the action, its request and its account at the time of the approval request; absent without one. */
  readonly requestDigest?: string;
  /** JSON text of the task as the call's request sees it, from the time of the approval request; absent without one. */
  readonly task?: StoredText;
  /** `team`, or the id of the person whose account the call uses. */
  readonly actsAs: string;
  /** The HTTP method of the request; null before it starts. */
  readonly method: string | null;
  /** JSON text of its output; null for none. */
  readonly output: StoredText | null;
  /** The text that the agent got; absent if it is just the output or `message`. */
  readonly told?: StoredText;
  /** In a repeating run, the id of the recorded call that gave the answer; absent for none. */
  readonly recorded?: string;
  readonly askedAt: string;
  readonly begunAt: string | null;
  readonly endedAt: string | null;
}

/** An ended call whose agent got an answer. */
export interface RecordedCall extends ToolCallRow {
  readonly state: Exclude<ToolCallState, "vetting" | "waiting" | "running" | "withdrawn">;
}

/** The state of a call between turns. Kept small: the call's data is in its row. */
export interface ToolCallContext {
  readonly runId: string;
  /** The runner that waits for the outcome, and its claim. */
  readonly runnerId: string;
  readonly fence: number;
  /** Number of times that hooks were asked: once, and once more after each edit. */
  readonly vettings: number;
  /** Whether a person has approved the call. After that only hooks are asked again. */
  readonly approved: boolean;
  /** Whether the run has ended, so that nobody waits for the outcome. */
  readonly runEnded: boolean;
}
