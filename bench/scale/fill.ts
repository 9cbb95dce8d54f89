import { createHash } from "node:crypto";
import { recordEvent } from "../../actors/events/event-log.table.js";
import { hookOccurrences, storeAttempt, storeEnded } from "../../actors/hooks/hook-occurrence.table.js";
import { runFacts } from "../../actors/run-facts/run-fact.table.js";
import { runOutcomes } from "../../actors/run-facts/run-outcome.table.js";
import { type Stay, stays, toDay } from "../../actors/run-facts/stay.table.js";
import { runEntry, runSteps, runs } from "../../actors/runs/run.table.js";
import { runInputs } from "../../actors/runs/run-input.table.js";
import type { CountingWriting } from "../../actors/tables/blobs.js";
import type { PublishingWriting } from "../../actors/tables/on-write.js";
import { toStoredText } from "../../actors/tables/text-blobs.js";
import { taskEntry, tasks } from "../../actors/tasks/task.table.js";
import { address } from "../../runtime/cells/address.js";
import { cellKey } from "../../runtime/cells/cell-record.js";
import type { DirectedWriting } from "../../runtime/directories/directory.js";
import { createIdentities } from "../../runtime/turns/ids.js";
import { Overlays } from "../../runtime/turns/overlays.js";
import type { Store } from "../../storage/store.js";
import { directedRows, seededBytes } from "../../test/support/turn.js";
import { HOOK, type Samples, type SampleTask, type Seed } from "./seed.js";

/** Tasks per commit. */
const TASKS_AT_ONCE = 1_000;
const SECOND_MS = 1_000;
const DAY_MS = 24 * 60 * 60 * SECOND_MS;
/**
 * The number of days over which the tasks of a store are spread. The tasks that expire at the next retention pass are
 * older.
 */
export const DAYS = 180;
/** The age of the tasks that expire at the next retention pass, in days since their end. */
const OLD_DAYS = 240;
/** The number of tasks that expire at the next retention pass. It is the same in a store of any size. */
export const OLD_TASKS = 300;
/** Run facts of the steady team, the same number in a store of any size. */
export const STEADY_FACTS = 1_000;
/**
 * How rare some tasks are: a number n means one task in n. `body`: its description is stored as a body. `closed`: it
 * was closed. `inbox`: it waits for its assignee.
 */
const ONE_IN = { body: 50, closed: 20, inbox: 100 };
/**
 * How rare some hook occurrences are: a number n means one occurrence in n. `failed`: it failed. `retried`: it was
 * delivered at the second attempt.
 */
const FIRED_ONE_IN = { failed: 50, retried: 20 };
/** Number of the latest tasks of a span whose events are recorded. A team retains about as many events. */
const EVENTS = 1_000;
const SENTENCE = "What happens, what should happen, and how to see it. ";

type Into = DirectedWriting & PublishingWriting & CountingWriting;

/** How many tasks or facts to write, and the period in which they begin, in milliseconds since 1970. */
interface Span {
  readonly count: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Fills a store with tasks and their runs, facts and hook occurrences. All are copies of samples that a service wrote.
 * Writes them with the functions that the product uses for its tables. Returns ids of tasks, evenly spread over the
 * whole period.
 */
export async function fillTasks(store: Store, seed: Seed, { samples, count }: { samples: Samples; count: number }) {
  const filling = new Filling(store, seed, samples);
  const nowMs = Date.now() - 60 * SECOND_MS;
  const oldMs = nowMs - OLD_DAYS * DAY_MS;
  await filling.tasks({ count: OLD_TASKS, fromMs: oldMs, toMs: oldMs + DAY_MS });
  const fromMs = nowMs - DAYS * DAY_MS;
  const ids = await filling.tasks({ count, fromMs, toMs: nowMs });
  await filling.facts({ count: STEADY_FACTS, fromMs, toMs: nowMs });
  return ids;
}

/** Writes rows in large commits. */
class Filling {
  readonly #store: Store;
  readonly #seed: Seed;
  readonly #samples: Samples;
  readonly #rows: Overlays;
  readonly #into: Into;
  readonly #identities = createIdentities(() => this.#nowMs, seededBytes(1));
  #nowMs = 0;
  #flushing: Promise<void> | null = null;

  constructor(store: Store, seed: Seed, samples: Samples) {
    this.#store = store;
    this.#seed = seed;
    this.#samples = samples;
    this.#rows = new Overlays(store.reading);
    // Replace the methods that notify stream readers or send messages by empty ones. No reader is subscribed, and no
    // message is needed, because no body loses its references.
    this.#into = Object.assign(directedRows(this.#rows), {
      publishRow: () => undefined,
      now: 0,
      send: () => undefined,
    });
  }

  /** Writes tasks, the oldest first; returns the ids of some of them, evenly spread. */
  async tasks(span: Span): Promise<string[]> {
    const { count } = span;
    // Use an odd interval. With an even interval, the returned tasks would more often have a stored body than all tasks
    // do.
    const every = Math.floor(count / 1_000) | 1;
    const ids: string[] = [];
    for (let n = 0; n < count; n++) {
      this.#nowMs = atMs(span, n);
      const id = this.#task(n, n >= count - EVENTS);
      if (n % every === 0) ids.push(id);
      if (n % TASKS_AT_ONCE === TASKS_AT_ONCE - 1) await this.#commit();
    }
    await this.#commit();
    await this.#flushed();
    return ids;
  }

  /** Writes only the facts of the steady team, without the runs and tasks that the facts are about. */
  async facts(span: Span): Promise<void> {
    const { workspaceId, steadyTeamId: teamId } = this.#seed;
    for (let n = 0; n < span.count; n++) {
      this.#nowMs = atMs(span, n);
      const [taskId, runId] = [this.#identities.newId("task"), this.#identities.newId("run")];
      runFacts.insert(this.#into, workspaceId, { ...this.#samples.done.fact, ...this.#toFact(runId), teamId, taskId });
    }
    await this.#commit();
    await this.#flushed();
  }

  #task(n: number, isRecent: boolean): string {
    const sample = this.#toSample(n);
    const { workspaceId } = this.#seed;
    const into = this.#into;
    const taskId = this.#identities.newId("task");
    const runId = this.#identities.newId("run");
    const openedAt = timeText(this.#nowMs);
    const sentences = n % ONE_IN.body === 0 ? 100 : 2 + (n % 8);
    const description = toStoredText(into, workspaceId, `${n}: ${SENTENCE.repeat(sentences)}`);
    const title = `Task ${n}: the tests fail on some days`;
    const opened = { id: taskId, runId, title, description, openedAt, movedAt: openedAt, partSinceMs: this.#nowMs };
    tasks.insert(into, workspaceId, { ...sample.task, ...opened });
    into.put(cellKey(address(workspaceId, "task", taskId)), sample.actors.task);
    into.direct(taskEntry(workspaceId, taskId));
    this.#run(sample, { n, taskId, runId, title, description });
    this.#fire(n, { id: taskId, title }, isRecent);
    return taskId;
  }

  #toSample(n: number): SampleTask {
    const { done, inbox, closed } = this.#samples;
    if (n % ONE_IN.inbox === ONE_IN.inbox - 1) return inbox;
    return n % ONE_IN.closed === ONE_IN.closed - 1 ? closed : done;
  }

  /** Writes the run of a task, with its input, step, fact and stays. */
  #run(sample: SampleTask, of: RunOf): void {
    const { workspaceId, teamId } = this.#seed;
    const into = this.#into;
    const { taskId, runId } = of;
    const { run, fact, step, actors } = sample;
    const owner = { kind: "task", id: taskId } as const;
    const times = { queuedAtMs: this.#nowMs, startedAt: timeText(this.#startedMs), endedAt: timeText(this.#endedMs) };
    const ownerAddress = address(workspaceId, "task", taskId);
    runs.insert(into, workspaceId, { ...run, id: runId, owner, ownerAddress, taskId, ...times });
    into.put(cellKey(address(workspaceId, "run", runId)), actors.run);
    into.direct(runEntry(workspaceId, runId));
    runInputs.insert(into, workspaceId, toInput(sample, of));
    runSteps.insert(into, workspaceId, { ...step, runId, at: times.startedAt });
    runFacts.insert(into, workspaceId, { ...fact, ...this.#toFact(runId), taskId });
    const { taskOutcome, next } = fact;
    if (taskOutcome !== null) runOutcomes.put(into, workspaceId, runId, { outcome: taskOutcome, next });
    for (const stay of sample.stays) this.#stay({ ...stay, teamId, taskId });
  }

  get #startedMs(): number {
    return this.#nowMs + 5 * SECOND_MS;
  }

  get #endedMs(): number {
    return this.#nowMs + 45 * SECOND_MS;
  }

  #toFact(runId: string) {
    const [queuedMs, startedMs, endedMs] = [this.#nowMs, this.#startedMs, this.#endedMs];
    return { runId, endedDay: toDay(endedMs), queuedMs, startedMs, endedMs };
  }

  #stay(stay: Stay): void {
    const [fromMs, toMs] = stay.part === "queued" ? [this.#nowMs, this.#startedMs] : [this.#startedMs, this.#endedMs];
    const id = this.#identities.newId("stay");
    stays.put(this.#into, this.#seed.workspaceId, [stay.teamId, toDay(toMs), id], { ...stay, id, fromMs, toMs });
  }

  /** Writes the hook occurrence that the opening of a task caused. If `isRecent` is true, also writes the event. */
  #fire(n: number, task: { readonly id: string; readonly title: string }, isRecent: boolean): void {
    const { workspaceId } = this.#seed;
    const into = this.#into;
    const { occurrence: sample, attempt } = this.#samples;
    const occurrence = this.#identities.newId("occ");
    const firedAt = timeText(this.#nowMs);
    const work = { ...sample.work, occurrence, task: { ...sample.work.task, ...task }, event: { at: firedAt } };
    if (isRecent) recordEvent(into, work);
    const id = `${occurrence}-${sample.hookId.slice(-8)}`;
    const begun = { state: "attempting", endedAt: null, code: null, refused: null } as const;
    hookOccurrences.insert(into, workspaceId, { ...sample, ...begun, id, work, firedAt });
    const failed = n % FIRED_ONE_IN.failed === 1;
    const tries = failed || n % FIRED_ONE_IN.retried === 2 ? 2 : 1;
    const refused = { status: 503, code: "server-error", reason: "status 503", at: firedAt } as const;
    if (tries === 2) storeAttempt(into, workspaceId, id, { ...attempt, ...refused, n: 1 });
    const last = failed ? { ...attempt, ...refused, n: tries } : { ...attempt, n: tries, at: firedAt };
    const ended = failed
      ? ({ state: "failed", code: "server-error" } as const)
      : ({ state: "delivered", code: null } as const);
    const { hookId } = sample;
    const { teamId, on } = work;
    const listed = { id, teamId, hookId, hook: HOOK, on, state: "attempting", retryAt: null } as const;
    const endedAt = timeText(this.#endedMs);
    storeEnded(into, workspaceId, listed, { ...ended, refused: null, endedAt, attempt: last });
  }

  /**
   * Waits for the previous commit, then starts to commit the written rows. The next tasks are written during the
   * commit.
   */
  async #commit(): Promise<void> {
    await this.#flushed();
    this.#flushing = this.#store.commit(this.#rows.close().changes());
  }

  async #flushed(): Promise<void> {
    await this.#flushing;
    this.#rows.flushed();
  }
}

/** The facts about a task that the rows of its run need. */
interface RunOf {
  readonly n: number;
  readonly taskId: string;
  readonly runId: string;
  readonly title: string;
  readonly description: ReturnType<typeof toStoredText>;
}

/** Returns the input of a run. Several consecutive tasks start from the same commit. */
function toInput({ input }: SampleTask, { n, taskId, runId, title, description }: RunOf) {
  const { beginning, claimed } = input;
  const base = createHash("sha1")
    .update(String(n >> 3))
    .digest("hex");
  const brief = claimed?.brief ?? null;
  return {
    ...input,
    runId,
    beginning: beginning && { ...beginning, checkouts: beginning.checkouts.map((checkout) => ({ ...checkout, base })) },
    claimed: claimed && { ...claimed, brief: brief && { ...brief, id: taskId, title, description } },
  };
}

/** Returns the time of the n-th item of a span, in whole milliseconds. */
function atMs({ count, fromMs, toMs }: Span, n: number): number {
  return Math.floor(fromMs + ((toMs - fromMs) * n) / count);
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
