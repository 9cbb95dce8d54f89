import type { ServiceMessage } from "../runners/protocol.js";
import type { MadePush, PushOrder, WaitingPush } from "../runners/push.js";
import type { OutgoingMessage } from "../runners/runner.queries.js";
import { buildJob, type JobSource } from "./job.js";

/** Why a job that is too large for a frame cannot be sent, for a person. */
export const TOO_LARGE = "What the task has changed and what was said on it are too large to be sent to a runner.";
const KNOWS_TASKS_ONLY = "The runner is of a release that only works for tasks.";
const KNOWS_NO_REPLAYS = "The runner is of a release that knows no replays.";
const KNOWS_NO_SEARCHES = "The runner is of a release that knows no searches.";
const KNOWS_NO_TOOLS = "The runner is of a release that knows no tools.";
const PUSHES_NOT = "The runner is of a release that pushes nothing.";
const KNOWS_NO_BRANCHES = "The runner is of a release that begins at no branch.";

/** A message that needs no token of the code host. */
export type SendableMessage = Exclude<OutgoingMessage["message"], WaitingPush>;

/** The order of a push, as it is sent. */
export function toPushOrder(
  { host: _host, installationId: _there, workflows: _workflows, pullRequestId: _pullRequest, ...order }: WaitingPush,
  made: MadePush,
): PushOrder {
  return { ...order, ...made };
}

/**
 * A message of a runner's outbox in the form that is sent. Only here are a job built and its secrets opened. A job
 * whose claim is over becomes `run.drop`.
 */
export function toServiceMessage(source: JobSource, workspaceId: string, message: SendableMessage): ServiceMessage {
  if (message.type !== "run.assign") return message;
  const { runId, fence } = message;
  const job = buildJob(source, workspaceId, { runId, fence });
  return job === undefined ? { type: "run.drop", runId, fence } : { type: "run.assign", job };
}

/** Why a runner with these protocol features cannot take the message, for a person; null when it can. */
export function whyNotKnown(message: ServiceMessage, features: readonly string[]): string | null {
  if (message.type !== "run.assign") return null;
  const { task, replay, search, tools = [], push, checkouts } = message.job;
  if (task === undefined && !features.includes("taskless")) return KNOWS_TASKS_ONLY;
  if (replay !== undefined && !features.includes("replays")) return KNOWS_NO_REPLAYS;
  if (search !== undefined && !features.includes("search")) return KNOWS_NO_SEARCHES;
  if (tools.length > 0 && !features.includes("tools")) return KNOWS_NO_TOOLS;
  if (push !== undefined && !features.includes("push")) return PUSHES_NOT;
  const isAtBranch = checkouts.some(({ branch, merges }) => branch !== undefined || merges !== undefined);
  return isAtBranch && !features.includes("branches") ? KNOWS_NO_BRANCHES : null;
}
