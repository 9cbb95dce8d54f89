import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import type { WorkEvent } from "../tasks/work-event.js";
import type { HookFailureCode } from "./failure.js";

export type FiringState = "attempting" | "waiting" | "delivered" | "failed" | "refused";

/** One firing of a hook, as its history shows it; the event and the attempts stand in rows of their own. */
export interface FiringRow {
  readonly id: string;
  /** The event occurrence, which may have fired other hooks too. */
  readonly occurrence: string;
  readonly hookId: string;
  readonly hook: string;
  readonly on: WorkEvent["on"];
  readonly teamId: string;
  /** Null in a test. */
  readonly taskId: string | null;
  readonly runId: string | null;
  readonly state: FiringState;
  /** Why it failed, or null. */
  readonly code: HookFailureCode | null;
  /** Why no request was made, or null. */
  readonly reason: string | null;
  /** Why the event was refused, or null. */
  readonly refused: string | null;
  readonly firedAt: string;
  readonly endedAt: string | null;
  /** When it is tried again, while it waits. */
  readonly retryAt?: string | null;
  /** The firing that this one sends again, or null. */
  readonly resends: string | null;
  /** The last firing that sent this one again. */
  readonly resentAs?: string;
  /** Whether it is a sample event, sent to see whether the hook works. */
  readonly test?: boolean;
}

/** One request that a firing made, or could not make. */
export interface AttemptRow {
  readonly n: number;
  readonly step: string;
  readonly at: string;
  readonly tookMs: number;
  /** As sent; signatures, tokens and secrets left out. */
  readonly requestHeaders: Readonly<Record<string, string>>;
  /** Null when nothing responded. */
  readonly status: number | null;
  /** The first 16 KiB of the response's body. */
  readonly body: string;
  readonly code: HookFailureCode | null;
  readonly reason: string | null;
  /** How long the receiver asked to be left alone, at most an hour. */
  readonly retryAfterMs?: number | null;
}

/** `[team, firing]`; ids rise with time */
export const firings = table<FiringRow>("hook-firing");
/** `[team, firing]` -> true: those that failed */
export const failedFirings = table<true>("hook-firing-failed");
/** `[firing]` */
export const firingEvents = table<WorkEvent>("hook-firing-event");
/** `[firing, n]` */
export const attempts = table<AttemptRow>("hook-attempt");

/** The workspace's firing of that id; undefined when it has none. */
export function firingById(reading: Reading, workspaceId: string, id: string): FiringRow | undefined {
  const teamId = firingEvents.get(reading, workspaceId, id)?.teamId;
  return teamId === undefined ? undefined : firings.get(reading, workspaceId, teamId, id);
}
