import type { FoundEvent, FoundPullRequest, FoundTask } from "./findings.js";
import type { PullThere } from "./outside-code-host.js";

/** The inputs of the promises: the service's records and those of the code host. */
export interface FoundPulls {
  readonly tasks: readonly FoundTask[];
  readonly pullRequests: readonly FoundPullRequest[];
  readonly pulls: readonly PullThere[];
  readonly forced: readonly string[];
  readonly events: readonly FoundEvent[];
  readonly hasAllEvents: boolean;
}

/**
 * Checks the promises about pull requests:
 *
 * - No push was forced.
 * - Each task and each branch has at most one open pull request.
 * - The service and the code host know the same pull requests.
 * - The change of each finished task is in a pull request.
 * - Each merge produced one event.
 */
export function* checkPullRequests(found: FoundPulls): Generator<string> {
  const { tasks, pullRequests, pulls, forced } = found;
  for (const push of forced) yield `forced: a push of ${push}`;
  const open = pulls.filter(({ state }) => state === "open");
  for (const branch of twice(open.map(({ branch }) => branch))) yield `twice: open pull requests of ${branch}`;
  const ofTasks = pullRequests.filter(({ state }) => state === "open").map(({ taskId }) => String(taskId));
  for (const taskId of twice(ofTasks)) yield `twice: open pull requests of task ${taskId}`;
  yield* checkUnsettled(found);
  const known = new Set(pullRequests.map(({ number }) => number));
  for (const { number, branch } of pulls) {
    if (!known.has(number)) yield `not recorded: pull request ${number} of ${branch}`;
  }
  for (const { id, title, state } of tasks) {
    const own = pullRequests.filter(({ taskId }) => taskId === id);
    if (state !== "done" || !title.startsWith("code-")) continue;
    if (own.length === 0) yield `lost: task ${id} ${title} is done, and its change is in no pull request`;
    if (own.some((one) => one.state === "failed")) yield `task ${id} is done, and a pull request of it failed`;
  }
  yield* checkMerges(found);
}

/**
 * Finds the service's pull requests that do not exist at the code host, or have another branch or state there. Skips
 * failed pull requests.
 */
export function* checkUnsettled({
  pullRequests,
  pulls,
}: Pick<FoundPulls, "pullRequests" | "pulls">): Generator<string> {
  for (const { id, number, branch, state } of pullRequests) {
    if (state === "failed") continue;
    const there = pulls.find((pull) => pull.number === number);
    if (there?.state === state && there.branch === branch) continue;
    yield `pull request ${id} of ${branch} is ${state}, and at the code host ${there?.state ?? "not there"}`;
  }
}

/** Checks that each merge produced exactly one event. */
function* checkMerges({ pullRequests, events, hasAllEvents }: FoundPulls): Generator<string> {
  if (!hasAllEvents) return;
  const told = events.filter(({ on }) => on === "pull-request.merged");
  for (const taskId of new Set(pullRequests.map(({ taskId }) => taskId))) {
    const merged = pullRequests.filter((one) => one.taskId === taskId && one.state === "merged").length;
    const times = told.filter((event) => event.taskId === taskId).length;
    if (times !== merged) yield `${times} events of ${merged} merges of task ${taskId}`;
  }
}

function twice(all: readonly string[]): readonly string[] {
  return [...new Set(all.filter((one, index) => all.indexOf(one) !== index))];
}
