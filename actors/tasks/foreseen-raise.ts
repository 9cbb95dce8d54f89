import type { Reading } from "../../storage/store.js";
import { findAssignee, toRaisedTitle, toTaskMarks } from "./raised-values.js";
import type { RaiseTask, TaskMark, TaskRaised } from "./team-marks.messages.js";
import { findMarkedTask } from "./team-marks.table.js";

/** The expected result of an event. */
export interface ForeseenRaise {
  readonly outcome: Exclude<TaskRaised["outcome"], "failed">;
  /** The open task that the event is about; null if there is no such task yet. */
  readonly taskId: string | null;
  /** The event's valid marks. */
  readonly marks: readonly TaskMark[];
  /** The task that the event would open; null if the event would open no task. */
  readonly opens: { readonly title: string; readonly assignee: string | null } | null;
}

/** Predicts the results of a sequence of events from the team's current open tasks. Writes nothing. */
export class ForeseenRaises {
  readonly #reading: Reading;
  readonly #of: { readonly workspaceId: string; readonly teamId: string };
  /**
   * The marks that earlier events of the sequence would set. Value: the id of the marked task, or null if an earlier
   * event of the sequence would open that task.
   */
  readonly #set = new Map<string, string | null>();

  constructor(reading: Reading, of: { readonly workspaceId: string; readonly teamId: string }) {
    this.#reading = reading;
    this.#of = of;
  }

  next(raise: Pick<RaiseTask, "marks" | "opens">): ForeseenRaise {
    const { workspaceId, teamId } = this.#of;
    const marks = toTaskMarks(raise.marks);
    const known = marks.map((mark) => this.#find(mark)).find((found) => found !== undefined);
    const opens = raise.opens && {
      title: toRaisedTitle(raise.opens.title),
      assignee: findAssignee(this.#reading, workspaceId, teamId, raise.opens.assigneeEmail),
    };
    if (known === undefined && opens === null) return { outcome: "unmatched", taskId: null, marks, opens };
    const taskId = known ?? null;
    for (const mark of marks) if (this.#find(mark) === undefined) this.#set.set(toKey(mark), taskId);
    return { outcome: known === undefined ? "opened" : "said", taskId, marks, opens };
  }

  /**
   * Finds the task that has the mark now or would have it after the earlier events. Null if an earlier event would open
   * that task; undefined if no task has the mark.
   */
  #find(mark: TaskMark): string | null | undefined {
    const { workspaceId, teamId } = this.#of;
    return findMarkedTask(this.#reading, workspaceId, { teamId, ...mark }) ?? this.#set.get(toKey(mark));
  }
}

function toKey({ kind, value }: TaskMark): string {
  return JSON.stringify([kind, value]);
}
