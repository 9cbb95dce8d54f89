import { line } from "./progress.js";

/** This file prints the progress of tasks, hooks and runs to the terminal as it happens, one line per change. */

interface TaskData {
  readonly id: string;
  readonly title: string;
  readonly station: string;
  readonly state: string;
  readonly runId: string | null;
}

type Change =
  /** For a new task, all members. For a changed task, its id and the changed members. */
  | { readonly type: "task"; readonly task: Pick<TaskData, "id"> & Partial<TaskData> }
  | { readonly type: "hook"; readonly hook: string; readonly on: string; readonly state: string }
  | { readonly type: "step"; readonly step: { readonly kind: string; readonly text: string } }
  | { readonly type: "run" | "configuration" | "note" };

export interface Counts {
  moves: number;
  sentBack: number;
  steps: number;
  readonly states: Map<string, string>;
}

export class Show {
  readonly counts: Counts = { moves: 0, sentBack: 0, steps: 0, states: new Map() };
  readonly #tasks = new Map<string, TaskData>();
  /** The task's title and the station of each run, by run id. */
  readonly #runs = new Map<string, string>();
  readonly #follow: (topic: string) => void;

  /** `follow` must subscribe to a topic. It is called with the topic of each run when a task first names the run. */
  constructor(follow: (topic: string) => void) {
    this.#follow = follow;
  }

  handle({ topic, data }: { readonly topic: string; readonly kind: string; readonly data: unknown }): void {
    const change = data as Change;
    switch (change.type) {
      case "task":
        return this.#task(change.task);
      case "hook":
        if (change.state === "delivered" || change.state === "failed" || change.state === "refused") {
          line("hook", `${change.hook} on ${change.on}: ${change.state}`);
        }
        return undefined;
      case "step":
        return this.#step(topic.slice("run/".length), change.step);
      default:
        // Any other message is the snapshot of a run. It contains the steps before the subscription.
        return this.#view(topic, data);
    }
  }

  #task(changed: Pick<TaskData, "id"> & Partial<TaskData>): void {
    const { counts } = this;
    const known = this.#tasks.get(changed.id);
    const task = { ...(known ?? { title: "", station: "", state: "", runId: null }), ...changed };
    this.#tasks.set(task.id, task);
    const before = known?.station;
    const isMove = before !== undefined && before !== task.station;
    if (isMove) {
      counts.moves += 1;
      if (task.station === "work") counts.sentBack += 1;
      line("move", `${task.title}: ${before} -> ${task.station}${task.station === "work" ? " (sent back)" : ""}`);
    }
    // Do not print that a moved task is queued: the line about the move implies it.
    const isPrinted = counts.states.get(task.id) === task.state || (isMove && task.state === "queued");
    if (!isPrinted) line("task", `${task.title}: ${task.state} at ${task.station}`);
    counts.states.set(task.id, task.state);
    if (task.runId !== null && !this.#runs.has(task.runId)) {
      this.#runs.set(task.runId, `${task.title}, ${task.station}`);
      this.#follow(`run/${task.runId}`);
    }
  }

  #view(topic: string, data: unknown): void {
    const { steps } = data as { readonly steps?: readonly { readonly kind: string; readonly text: string }[] };
    for (const step of steps ?? []) this.#step(topic.slice("run/".length), step);
  }

  #step(runId: string, step: { readonly kind: string; readonly text: string }): void {
    this.counts.steps += 1;
    line("step", `${this.#runs.get(runId) ?? runId}: ${step.text.split("\n")[0]}`);
  }
}
