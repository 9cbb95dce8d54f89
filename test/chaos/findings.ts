import type { AgentStart } from "./ledger.js";
import type { PullThere } from "./outside-code-host.js";
import type { HookArrival } from "./receiver.js";
import type { RepeatingClient } from "./repeating-client.js";

/** A task with its runs, as the service reports it. */
export interface FoundTask {
  readonly id: string;
  readonly title: string;
  readonly state: string;
  readonly asks: string | null;
  readonly notes: readonly { readonly text: string }[];
  readonly runs: readonly FoundRun[];
}

export interface FoundRun {
  readonly id: string;
  readonly state: string;
  readonly outcome: string | null;
  readonly spent: { readonly amount: number } | null;
  readonly waiting: { readonly reason: string } | null;
  /** Texts of the steps that a completed run's agent reported; null for other runs. */
  readonly shown: readonly string[] | null;
  /** The agent's calls, for runs whose agents call tools. */
  readonly calls?: readonly FoundCall[];
}

/** A tool call, as its run's list contains it. */
export interface FoundCall {
  readonly id: string;
  readonly tool: string;
  readonly state: string;
  readonly code: string | null;
  readonly inputs: Readonly<Record<string, unknown>>;
}

/** A task's pull request, as its team's list contains it. */
export interface FoundPullRequest {
  readonly id: string;
  readonly taskId: string | null;
  /** Null until the pull request exists at the code host. */
  readonly number: number | null;
  readonly branch: string;
  readonly state: string;
}

/** An event of a task. */
export interface FoundEvent {
  readonly occurrence: string;
  readonly on: string;
  readonly taskId: string;
  readonly runId: string | null;
}

/** A hook occurrence. */
export interface FoundFiring {
  readonly id: string;
  readonly occurrence: string;
  readonly hook: string;
  readonly on: string;
  readonly taskId: string | null;
  readonly state: string;
  readonly code: string | null;
  readonly attempts: readonly FoundAttempt[];
}

interface FoundAttempt {
  readonly n: number;
  /** The status of the receiver's answer; null if the receiver did not answer. */
  readonly status: number | null;
  /** The failure code of the attempt; null if the receiver accepted the request. */
  readonly code: string | null;
}

/** What the service reports after a round, and what the outside world received. */
export interface Findings {
  readonly secrets: readonly { readonly name: string; readonly id: string }[];
  readonly tasks: readonly FoundTask[];
  readonly events: readonly FoundEvent[];
  /** Whether `events` is complete. It is incomplete if the service has removed old events. */
  readonly hasAllEvents: boolean;
  readonly firings: readonly FoundFiring[];
  readonly arrivals: readonly HookArrival[];
  /** The texts of the comments that the tracker received. */
  readonly comments: readonly string[];
  readonly starts: readonly AgentStart[];
  /** Pull requests of tasks. */
  readonly pullRequests: readonly FoundPullRequest[];
  /** The code host's pull requests (`pulls`), and the force pushes that it received (`forced`). */
  readonly pulls: readonly PullThere[];
  readonly forced: readonly string[];
  /** Ids of tasks that a stream reported. */
  readonly streamed: ReadonlySet<string>;
}

/** The workspace and the team to read. */
export interface Site {
  readonly workspaceId: string;
  readonly teamId: string;
}

const PAGE = 200;
const EVENTS_KEPT = 1_000;
/** Number of tasks read concurrently. */
const AT_ONCE = 8;

/** Reads the findings that come from the service's API. */
export async function readBack(
  client: RepeatingClient,
  { workspaceId, teamId }: Site,
): Promise<Omit<Findings, "arrivals" | "comments" | "starts" | "streamed" | "pulls" | "forced">> {
  const secrets = await client.list<Findings["secrets"][number]>(`/api/resources/workspaces/${workspaceId}/secrets`);
  const team = `/api/teams/${teamId}`;
  const items = await pages<{ readonly id: string }>(client, `${team}/tasks`, ({ id }) => id);
  const tasks: FoundTask[] = [];
  for (let at = 0; at < items.length; at += AT_ONCE) {
    tasks.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(({ id }) => readTask(client, id)))));
  }
  const events = await pages<FoundEvent>(client, `${team}/events`, ({ occurrence }) => occurrence);
  const firings = await pages<FoundFiring>(client, `${team}/hook-occurrences`, ({ id }) => id);
  const pullRequests = await readPullRequests(client, teamId);
  return { secrets, tasks, events, hasAllEvents: events.length < EVENTS_KEPT, firings, pullRequests };
}

/** Returns the pull requests of a team's tasks. */
export async function readPullRequests(client: RepeatingClient, teamId: string): Promise<readonly FoundPullRequest[]> {
  return pages<FoundPullRequest>(client, `/api/teams/${teamId}/pull-requests`, ({ id }) => id);
}

async function readTask(client: RepeatingClient, id: string): Promise<FoundTask> {
  const task = (await client.get(`/api/tasks/${id}`)) as unknown as FoundTask;
  const runs = await client.list<FoundRun>(`/api/tasks/${id}/runs?limit=${PAGE}`);
  const read = await Promise.all(runs.map((run) => withSteps(client, run)));
  return { ...task, runs: callsTools(task) ? await Promise.all(read.map((run) => withCalls(client, run))) : read };
}

/** Whether a task's agents call tools. */
function callsTools({ title }: Pick<FoundTask, "title">): boolean {
  return title.startsWith("tools");
}

async function withCalls(client: RepeatingClient, run: FoundRun): Promise<FoundRun> {
  return { ...run, calls: await client.list<FoundCall>(`/api/runs/${run.id}/tool-calls`) };
}

async function withSteps(client: RepeatingClient, run: FoundRun): Promise<FoundRun> {
  if (run.outcome !== "completed") return { ...run, shown: null };
  const steps = await client.list<{ readonly text: string }>(`/api/runs/${run.id}/steps?limit=${PAGE}`);
  return { ...run, shown: steps.map(({ text }) => text) };
}

async function pages<Item>(client: RepeatingClient, path: string, toId: (item: Item) => string): Promise<Item[]> {
  const all: Item[] = [];
  for (let before = ""; ; ) {
    const page = await client.list<Item>(`${path}?limit=${PAGE}${before}`);
    all.push(...page);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return all;
    before = `&before=${toId(last)}`;
  }
}
