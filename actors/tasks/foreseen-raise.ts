import type { Reading } from "../../storage/store.js";
import { findAssignee, toRaisedTitle, toTaskMarks } from "./raised-values.js";
import type { RaiseTask, TaskMark, TaskRaised } from "./team-marks.messages.js";
import { findMarkedTask } from "./team-marks.table.js";

/** What would become of something that is raised. */
export interface ForeseenRaise {
  readonly outcome: Exclude<TaskRaised["outcome"], "failed">;
  /** The open task that it is about; null where there is none yet. */
  readonly taskId: string | null;
  /** Those that are kept. */
  readonly marks: readonly TaskMark[];
  /** How the task would be opened; null where the event opens nothing. */
  readonly opens: { readonly title: string; readonly assignee: string | null } | null;
}

/** What would become of what is raised one after another, as the open tasks of the team are now. Nothing is written. */
export class ForeseenRaises {
  readonly #reading: Reading;
  readonly #of: { readonly workspaceId: string; readonly teamId: string };
  /** The marks that what was raised before would have set, with their task; null for one that is not there yet. */
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

  /** Undefined where no open task has the mark, or would have it. */
  #find(mark: TaskMark): string | null | undefined {
    const { workspaceId, teamId } = this.#of;
    return findMarkedTask(this.#reading, workspaceId, { teamId, ...mark }) ?? this.#set.get(toKey(mark));
  }
}

function toKey({ kind, value }: TaskMark): string {
  return JSON.stringify([kind, value]);
}
