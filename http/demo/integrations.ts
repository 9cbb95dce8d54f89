import type { Client } from "../client/entry.js";
import type { Configured } from "./configuration.js";
import { line } from "./progress.js";
import type { Tracker } from "./tracker.js";
import { connectTracker } from "./tracker-integration.js";
import { until } from "./until.js";

/**
 * In this part, the demo turns a tracker issue into a task. The task's agent calls the tracker's tools, one of them
 * with a person's approval.
 */

const DONE_COMMENT = "The work on this is done.";

const ISSUE = {
  title: "Approvals",
  description: "Say who approves a tool's call.",
  assignee: { name: "Ada", email: "ada@example.com" },
};

/** The ids of the integration, and of the issue's task and run. */
export interface IssueWork {
  readonly integrationId: string;
  readonly taskId: string;
  readonly runId: string;
}

/**
 * Shows how an agent works on a tracker issue, and prints the results. Returns the ids of {@link IssueWork}, or null if
 * the results are unexpected.
 */
export async function showIssue(
  client: Client,
  configured: Configured,
  tracker: Tracker,
  signal: AbortSignal,
): Promise<IssueWork | null> {
  const { teamId } = configured;
  const { integrationId, deliveriesUrl } = await connectTracker(client, configured, tracker);
  tracker.deliverTo = deliveriesUrl;
  const issue = await tracker.open(ISSUE);
  await tracker.label(issue, "agent");
  line("issue", `${issue.identifier} gets the label agent; the tracker sends a webhook to ${tracker.deliverTo}`);
  const findTask = async () => {
    const { items } = await client.get("/api/teams/{teamId}/tasks", { path: { teamId }, query: { limit: 200 } });
    return items.find(({ title }) => title.startsWith(`${issue.identifier}:`));
  };
  const read = async () => client.get("/api/tasks/{taskId}", { path: { taskId: (await findTask())?.id ?? "" } });
  const isTask = (wanted: string) => async () => {
    const state = (await findTask())?.state ?? "not there";
    return state === wanted ? null : `the task of ${issue.identifier} is ${state}`;
  };
  await until("the approval of the issue's task", isTask("inbox"), signal);
  const [approval] = (await read()).approvals;
  if (approval === undefined) return null;
  line("issue", `its agent asks for approval to call ${approval.tool}; Ada approves it`);
  const { runId } = approval;
  await client.post("/api/runs/{runId}/approvals/{approvalId}/approve", {
    path: { runId, approvalId: approval.id },
    body: {},
  });
  await until("the issue's task", isTask("done"), signal);
  const findClosed = async () => {
    const { comments } = issue;
    return comments.some(({ body }) => body === DONE_COMMENT)
      ? null
      : `${issue.identifier} has ${comments.length} comments`;
  };
  await until("the last comment on the issue", findClosed, signal);
  for (const { by, body } of issue.comments) line("issue", `${issue.identifier}, ${by}: ${body.split("\n")[0]}`);
  const { items } = await client.get("/api/runs/{runId}/tool-calls", { path: { runId } });
  // The list is newest first; print it in the order of the calls.
  const calls = items.map(({ tool, state }) => `${tool} ${state}`).reverse();
  line("issue", `it is ${issue.state.name} in the tracker; tool calls: ${calls.join(", ")}`);
  const isCalled = issue.state.name === "Done" && items.length === 3 && items.every(({ state }) => state === "done");
  const taskId = (await findTask())?.id;
  return isCalled && taskId !== undefined ? { integrationId, taskId, runId } : null;
}
