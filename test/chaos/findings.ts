import type { AgentStart } from "./ledger.js";
import type { PullThere } from "./outside-code-host.js";
import type { HookArrival } from "./receiver.js";
import type { RepeatingClient } from "./repeating-client.js";

/** A task with its runs, as the service tells. */
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
  /** Texts of the steps that the agent of a completed run showed; null of another. */
  readonly shown: readonly string[] | null;
  /** What its agent called; of runs whose agents call tools. */
  readonly calls?: readonly FoundCall[];
}

/** A call of a tool, as its run's page lists it. */
export interface FoundCall {
  readonly id: string;
  readonly tool: string;
  readonly state: string;
  readonly code: string | null;
  readonly inputs: Readonly<Record<string, unknown>>;
}

/** A pull request of a task, as its team lists it. */
export interface FoundPullRequest {
  readonly id: string;
  readonly taskId: string | null;
  /** Null while it is not at the code host. */
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

/** A firing of a hook. */
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
  /** What the receiver answered; null when it answered nothing. */
  readonly status: number | null;
  /** Null when it was taken. */
  readonly code: string | null;
}

/** What the service says after a round, and what the world outside saw. */
export interface Findings {
  readonly secrets: readonly { readonly name: string; readonly id: string }[];
  readonly tasks: readonly FoundTask[];
  readonly events: readonly FoundEvent[];
  /** Whether `events` are all that there were: only the latest are kept. */
  readonly hasAllEvents: boolean;
  readonly firings: readonly FoundFiring[];
  readonly arrivals: readonly HookArrival[];
  /** The texts of the calls that arrived. */
  readonly comments: readonly string[];
  readonly starts: readonly AgentStart[];
  /** Of tasks. */
  readonly pullRequests: readonly FoundPullRequest[];
  /** Those that the code host has, and what was pushed there by force. */
  readonly pulls: readonly PullThere[];
  readonly forced: readonly string[];
  /** Ids of tasks that a stream told of. */
  readonly streamed: ReadonlySet<string>;
}

/** Where to ask. */
export interface Site {
  readonly workspaceId: string;
  readonly teamId: string;
}

const PAGE = 200;
const EVENTS_KEPT = 1_000;
/** Tasks that are read at once. */
const AT_ONCE = 8;

/** Reads everything back that the promises are about. */
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

/** The pull requests of a team's tasks. */
export async function readPullRequests(client: RepeatingClient, teamId: string): Promise<readonly FoundPullRequest[]> {
  return pages<FoundPullRequest>(client, `/api/teams/${teamId}/pull-requests`, ({ id }) => id);
}

async function readTask(client: RepeatingClient, id: string): Promise<FoundTask> {
  const task = (await client.get(`/api/tasks/${id}`)) as unknown as FoundTask;
  const runs = await client.list<FoundRun>(`/api/tasks/${id}/runs?limit=${PAGE}`);
  const read = await Promise.all(runs.map((run) => withSteps(client, run)));
  return { ...task, runs: callsTools(task) ? await Promise.all(read.map((run) => withCalls(client, run))) : read };
}

/** Whether the agents of a task call tools. */
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

async function pages<Item>(client: RepeatingClient, path: string, idOf: (item: Item) => string): Promise<Item[]> {
  const all: Item[] = [];
  for (let before = ""; ; ) {
    const page = await client.list<Item>(`${path}?limit=${PAGE}${before}`);
    all.push(...page);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return all;
    before = `&before=${idOf(last)}`;
  }
}
