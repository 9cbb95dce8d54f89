import { SPENT, STEPS } from "./agent.js";
import { checkCalls, checkDeliveries } from "./call-promises.js";
import { checkPullRequests } from "./code-host-promises.js";
import type { Findings, FoundEvent, FoundFiring, FoundRun, FoundTask } from "./findings.js";
import type { Ledger } from "./ledger.js";

type Acknowledged = Pick<Ledger, "secrets" | "tasks" | "notes" | "deliveries">;

/** For some events, the key of a hook that fires on every event with that name. */
export const tellers = { "task.opened": "tell-opened", "task.moved": "tell-moved", "run.ended": "tell-ended" } as const;

/** Returns the broken promises; empty if all hold. Call it only when no work is in progress. */
export function listBroken(acknowledged: Acknowledged, found: Findings): readonly string[] {
  return [
    ...checkResources(acknowledged, found),
    ...checkTasks(acknowledged, found),
    ...checkNotes(acknowledged, found),
    ...found.tasks.flatMap((task) => [...checkRuns(task, found)]),
    ...checkOutside(found),
    ...checkEvents(found),
    ...checkFirings(found),
    ...checkArrivals(found),
    ...checkDeliveries(acknowledged.deliveries, found.tasks),
    ...checkCalls(found.tasks, found.comments),
    ...checkPullRequests(found),
  ];
}

function* checkResources({ secrets }: Acknowledged, found: Findings): Generator<string> {
  const byName = new Map(found.secrets.map(({ name, id }) => [name, id]));
  if (byName.size < found.secrets.length) yield `twice: secrets ${twice(found.secrets.map(({ name }) => name))}`;
  for (const { name, id } of secrets) {
    if (byName.get(name) !== id) yield `lost: secret ${name} was answered with ${id} and is ${byName.get(name)}`;
  }
}

function* checkTasks({ tasks }: Acknowledged, found: Findings): Generator<string> {
  const titles = twice(found.tasks.map(({ title }) => title));
  if (titles.length > 0) yield `twice: tasks ${titles}`;
  const byId = new Map(found.tasks.map((task) => [task.id, task]));
  for (const { id, title } of tasks) {
    if (byId.get(id)?.title !== title) yield `lost: task ${id} ${title} is ${byId.get(id)?.title}`;
  }
}

function* checkNotes({ notes }: Acknowledged, found: Findings): Generator<string> {
  const texts = new Map(found.tasks.map(({ id, notes: all }) => [id, all.map(({ text }) => text)]));
  for (const { taskId, text } of notes) {
    const times = texts.get(taskId)?.filter((one) => one === text).length ?? 0;
    if (times !== 1)
      yield `${times === 0 ? "lost" : "twice"}: note "${text}" of task ${taskId} is there ${times} times`;
  }
}

/**
 * Checks that every run ended exactly once, and that at most one agent was started for it. If a task is vetoed, no
 * agent may have been started for its runs.
 */
function* checkRuns(task: FoundTask, { events, hasAllEvents, starts }: Findings): Generator<string> {
  for (const run of task.runs) {
    const which = `run ${run.id} of task ${task.id} ${task.title}`;
    if (run.state !== "ended") yield `stuck: ${which} is ${run.state}: ${run.waiting?.reason}`;
    const ends = events.filter(({ on, runId }) => on === "run.ended" && runId === run.id).length;
    if (ends > 1) yield `twice: ${which} ended ${ends} times`;
    if (ends === 0 && hasAllEvents && run.state === "ended" && wasClaimed(run))
      yield `lost: no event of the end of ${which}`;
    const begun = starts.filter(({ runId }) => runId === run.id).length;
    if (begun > 1) yield `twice: ${begun} agents were started for ${which}`;
    yield* checkSaid(run, which);
  }
  if (task.title.startsWith("veto") && starts.some(({ taskId }) => taskId === task.id)) {
    yield `a veto was passed by: an agent worked on task ${task.id} ${task.title}`;
  }
}

/** Whether an ended run had been claimed: only the end of a claimed run is an event. */
function wasClaimed({ outcome }: FoundRun): boolean {
  return outcome === "completed" || outcome === "failed" || outcome === "abandoned";
}

/**
 * Checks a completed run: the steps that its agent reported were recorded once and in order, and the agent's costs were
 * added once.
 */
function* checkSaid({ shown, spent }: FoundRun, which: string): Generator<string> {
  if (shown === null) return;
  const numbered = shown.filter((text) => text.startsWith("step "));
  const wanted = Array.from({ length: STEPS }, (_, index) => `step ${index + 1}`);
  if (numbered.join() !== wanted.join()) yield `lost or twice: ${which} showed ${numbered.join(", ")}`;
  if (spent?.amount !== SPENT) yield `lost or twice: ${which} spent ${spent?.amount}`;
}

/**
 * Checks that everything that the outside world received is stored. The service may send data only after the data is on
 * disk.
 */
function* checkOutside({ tasks, firings, starts, streamed, arrivals }: Findings): Generator<string> {
  const known = new Set(tasks.map(({ id }) => id));
  for (const id of streamed) if (!known.has(id)) yield `left before the flush: a stream told of task ${id}`;
  const runs = new Set(tasks.flatMap((task) => task.runs.map(({ id }) => id)));
  for (const { runId } of starts) if (!runs.has(runId)) yield `left before the flush: an agent had run ${runId}`;
  const fired = new Set(firings.map(({ id }) => id));
  for (const { firingId } of arrivals) {
    if (!fired.has(firingId)) yield `left before the flush: a receiver was sent ${firingId}`;
  }
}

/**
 * Checks that each task has exactly one `task.opened` event, and that each event fired the hook that {@link tellers}
 * names for it.
 */
function* checkEvents({ events, firings, tasks, hasAllEvents }: Findings): Generator<string> {
  const opened = twice(events.filter(({ on }) => on === "task.opened").map(({ taskId }) => taskId));
  if (opened.length > 0) yield `twice: opened tasks ${opened}`;
  if (hasAllEvents) {
    const told = new Set(events.filter(({ on }) => on === "task.opened").map(({ taskId }) => taskId));
    for (const { id } of tasks) if (!told.has(id)) yield `lost: the event of the opening of task ${id}`;
  }
  const fired = new Set(firings.map(({ occurrence, hook }) => `${occurrence} ${hook}`));
  for (const event of events) {
    const hook = findTeller(event);
    if (hook !== undefined && !fired.has(`${event.occurrence} ${hook}`)) {
      yield `lost: the firing of ${hook} on ${event.occurrence} of task ${event.taskId}`;
    }
  }
}

function findTeller({ on }: FoundEvent | FoundFiring): string | undefined {
  return on in tellers ? tellers[on as keyof typeof tellers] : undefined;
}

/**
 * Checks the hook occurrences:
 *
 * - Each event has at most one occurrence per hook.
 * - The attempts of an occurrence are numbered without gaps.
 * - Each occurrence on an event of {@link tellers} was delivered.
 */
function* checkFirings({ firings, arrivals }: Findings): Generator<string> {
  const both = twice(firings.map(({ occurrence, hook }) => `${occurrence} ${hook}`));
  if (both.length > 0) yield `twice: firings ${both}`;
  const taken = new Set(arrivals.filter(({ isTaken }) => isTaken).map(({ firingId }) => firingId));
  for (const firing of firings) {
    const { id, hook, taskId, state, code, attempts } = firing;
    const which = `firing ${id} of ${hook} about task ${taskId}`;
    if (attempts.some(({ n }, index) => n !== index + 1))
      yield `${which} has the attempts ${attempts.map(({ n }) => n)}`;
    if (findTeller(firing) === undefined) continue;
    if (state !== "delivered") yield `${which} is ${state} ${code}, after ${attempts.map((attempt) => attempt.code)}`;
    else if (!taken.has(id)) yield `${which} is delivered, and no receiver took it`;
  }
}

/**
 * Checks the requests that arrived at the receivers:
 *
 * - All requests are signed, and requests with the same id have the same body.
 * - Each request belongs to an attempt that the service lists.
 * - Each attempt with an answer has a request that arrived.
 */
function* checkArrivals({ firings, arrivals }: Findings): Generator<string> {
  const digests = new Map<string, string>();
  const times = new Map<string, number>();
  for (const { id, firingId, digest, isSigned } of arrivals) {
    if (!isSigned) yield `a request under ${id} is not signed`;
    if ((digests.get(id) ?? digest) !== digest) yield `two bodies came under ${id}`;
    digests.set(id, digest);
    times.set(firingId, (times.get(firingId) ?? 0) + 1);
  }
  for (const { id, attempts } of firings) {
    const came = times.get(id) ?? 0;
    if (attempts.length < came) yield `not counted: ${id} has ${attempts.length} attempts, and ${came} came`;
    const answered = attempts.filter(({ status }) => status !== null).length;
    if (answered > came) yield `counted twice: ${id} has ${answered} answered attempts, and ${came} came`;
  }
}

/** Returns the items that occur more than once. */
function twice(all: readonly string[]): string[] {
  const seen = new Set<string>();
  return all.filter((one) => seen.size === seen.add(one).size);
}
