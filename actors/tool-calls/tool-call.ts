import type { ApprovalRule } from "../runs/approval.js";
import type { StoredText } from "../tables/text-blobs.js";

/** The states of a call (`tool-call.machine.ts`): the first three are those of an open one. */
export const toolCallStates = [
  ...(["vetting", "waiting", "running"] as const),
  ...(["done", "failed", "dismissed", "refused", "withdrawn"] as const),
] as const;
export type ToolCallState = (typeof toolCallStates)[number];

/**
 * Why a call failed: its inputs are wrong (`invalid`), nobody knows what became of it (`outcome-unknown`), or as its
 * request did (`integrations/requests/integration-request.ts`).
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
  /** Empty where the run has no such tool. */
  readonly integrationId: string;
  readonly tool: string;
  /** Of the tool and the inputs as asked for (`asked-digest.ts`): equal calls have the same. */
  readonly askedDigest: string;
  /** JSON text of the inputs with defaults; as asked for where they are wrong. */
  readonly inputs: StoredText;
  /** JSON text of the inputs that replaced `inputs` on approval; null when unchanged. */
  readonly edited: StoredText | null;
  readonly state: ToolCallState;
  readonly code: ToolCallCode | null;
  /** One sentence on how it ended, where it did not succeed. */
  readonly message: string | null;
  readonly approvalId: string | null;
  /** Whose rule asks for approval, fixed when it was asked for; null for none. */
  readonly rule: ApprovalRule | null;
  /** Of the action, its request and its account as they were when approval was asked for; absent for a call without. */
  readonly requestDigest?: string;
  /** JSON text of the task as its request sees it, as it was when approval was asked for; absent for a call without. */
  readonly task?: StoredText;
  /** `team`, or the id of the person whose account it uses. */
  readonly actsAs: string;
  /** The method of its request when it began; null before. */
  readonly method: string | null;
  /** JSON text of its output; null for none. */
  readonly output: StoredText | null;
  /** What the agent was told, where it is not its output or `message` alone. */
  readonly told?: StoredText;
  /** In a run that repeats another, the call of that whose answer it got; absent for none. */
  readonly recorded?: string;
  readonly askedAt: string;
  readonly begunAt: string | null;
  readonly endedAt: string | null;
}

/** A call that is over, and whose agent got an answer. */
export interface RecordedCall extends ToolCallRow {
  readonly state: Exclude<ToolCallState, "vetting" | "waiting" | "running" | "withdrawn">;
}

/** The state of a call between turns. Small on purpose: what a call is stands in its row. */
export interface ToolCallContext {
  readonly runId: string;
  /** The runner that waits for the outcome, and its claim. */
  readonly runnerId: string;
  readonly fence: number;
  /** How often hooks were asked: once, and again after each edit. */
  readonly vettings: number;
  /** Whether a person has given leave; hooks are asked once more then, nobody else. */
  readonly approved: boolean;
  /** Whether its run has ended, so that nobody waits for the outcome. */
  readonly runEnded: boolean;
}
