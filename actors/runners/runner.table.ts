import { type DirectoryEntry, directory } from "../../runtime/directories/directory.js";
import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import type { RunnerFeature } from "./protocol.js";
import type { PullRequestAnswered, WaitingPush } from "./push.js";
import type { ToolAnswered, ToolWaiting } from "./run-tools.js";
import type { RunnerRow } from "./runner.js";

/** A run's requirements for its runner. */
export interface RunNeeds {
  /** The pool that the runner must belong to; null for any pool of the workspace. */
  readonly poolId: string | null;
  readonly labels: readonly string[];
  readonly harness: string;
  /** The protocol features that the runner must support; absent for none. */
  readonly features?: readonly RunnerFeature[];
}

/** A run that waits for a runner. */
export interface QueuedRun extends RunNeeds {
  readonly runId: string;
  readonly queuedAtMs: number;
  /** The lane in which the run waits; absent for `work`. */
  readonly lane?: string;
}

/** A run that a runner has claimed. Written by the dispatcher. */
export interface ClaimRow {
  readonly runnerId: string;
  readonly runId: string;
  readonly poolId: string;
  /** The lane in which the run waited; absent for `work`. */
  readonly lane?: string;
}

/**
 * A message that waits to be sent to a runner. The job of an assignment and the token of a push are created when the
 * message is written to the socket.
 */
export type OutboxMessage =
  | WaitingPush
  | PullRequestAnswered
  | { readonly type: "run.assign"; readonly runId: string; readonly fence: number }
  | { readonly type: "run.stop"; readonly runId: string; readonly fence: number; readonly reason: string }
  | { readonly type: "run.drop"; readonly runId: string; readonly fence: number }
  | {
      readonly type: "run.message";
      readonly runId: string;
      readonly fence: number;
      readonly n: number;
      readonly from: string;
      readonly text: string;
    }
  | {
      readonly type: "run.permission-answered";
      readonly runId: string;
      readonly fence: number;
      readonly id: string;
      readonly verdict: "approved" | "dismissed";
      readonly inputs: string | null;
      readonly reason: string | null;
    }
  | {
      readonly type: "run.handover-answered";
      readonly runId: string;
      readonly fence: number;
      readonly id: string;
      readonly refused: string | null;
    }
  | ToolWaiting
  | ToolAnswered;

/** Key: `[runner]`. */
export const runners = table<RunnerRow>("runner");
/** Key: `[runner, run]`. */
export const claims = table<ClaimRow>("claim");
/** Key: `[runner, n]`. */
export const outbox = table<OutboxMessage>("runner-outbox");
/** Key: `[workspace, runner]`. The connected runners. At its next start, the service marks them as disconnected. */
export const connectedRunners = directory<{ readonly workspaceId: string; readonly runnerId: string }>(
  "connected-runner",
);

export function connectedRunnerEntry(workspaceId: string, runnerId: string): DirectoryEntry {
  return connectedRunners.entry([workspaceId, runnerId], { workspaceId, runnerId });
}

/** Whether the runner supports this protocol feature. */
export function hasFeature(reading: Reading, workspaceId: string, runnerId: string, feature: RunnerFeature): boolean {
  return runners.get(reading, workspaceId, runnerId)?.features?.includes(feature) ?? false;
}

/**
 * Whether some runner of the workspace can start the harness. Always true for `command`, which every runner can start.
 */
export function isHarnessOffered(reading: Reading, workspaceId: string, harness: string): boolean {
  return (
    harness === "command" || runners.list(reading, workspaceId).some(({ harnesses }) => harnesses.includes(harness))
  );
}

/**
 * Lists the harnesses that runners of the workspace can start, without duplicates, sorted by name. `command` is always
 * included.
 */
export function listHarnesses(reading: Reading, workspaceId: string): readonly string[] {
  const offered = runners.list(reading, workspaceId).flatMap(({ harnesses }) => harnesses);
  return [...new Set(["command", ...offered])].sort();
}
