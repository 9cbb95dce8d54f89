import type { ServiceMessage } from "../runners/protocol.js";
import type { MadePush, PushOrder, WaitingPush } from "../runners/push.js";
import type { OutgoingMessage } from "../runners/runner.queries.js";
import { buildJob, type JobSource } from "./job.js";

/** The reason, for people, why a job too large for a frame cannot be sent. */
export const TOO_LARGE = "The task's changes and notes are too large to send to a runner.";
const KNOWS_TASKS_ONLY = "The runner's release supports only task runs.";
const KNOWS_NO_REPLAYS = "The runner's release does not support replays.";
const KNOWS_NO_SEARCHES = "The runner's release does not support searches.";
const KNOWS_NO_TOOLS = "The runner's release does not support tools.";
const PUSHES_NOT = "The runner's release does not support pushes.";
const KNOWS_NO_BRANCHES = "The runner's release cannot start at a branch.";

/** A message that needs no code host token. */
export type SendableMessage = Exclude<OutgoingMessage["message"], WaitingPush>;

/** Builds the push order that is sent to the runner. */
export function toPushOrder(
  { host: _host, installationId: _there, workflows: _workflows, pullRequestId: _pullRequest, ...order }: WaitingPush,
  made: MadePush,
): PushOrder {
  return { ...order, ...made };
}

/**
 * Converts a message of a runner's outbox to its wire form. For an assignment, builds the job and opens its secrets; no
 * other function does this. An assignment whose claim has ended becomes `run.drop`.
 */
export function toServiceMessage(source: JobSource, workspaceId: string, message: SendableMessage): ServiceMessage {
  if (message.type !== "run.assign") return message;
  const { runId, fence } = message;
  const job = buildJob(source, workspaceId, { runId, fence });
  return job === undefined ? { type: "run.drop", runId, fence } : { type: "run.assign", job };
}

/**
 * Returns the reason, for people, why a runner with these protocol features cannot handle the message; null if the
 * runner can handle it.
 */
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
