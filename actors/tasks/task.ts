import { z } from "zod";
import { type Opener, shownOpenerSchema } from "../opener.js";
import { failureSchema } from "../runners/protocol.js";
import { approvalSchema } from "../runs/approval.js";
import type { StoredText } from "../tables/text-blobs.js";
import type { Shown, Stored } from "../view.js";

/** An open approval without its inputs. */
export const openApprovalSchema = approvalSchema.pick({ id: true, runId: true, tool: true, askedAt: true });

/** A task as lists and streams return it. */
export const taskItemSchema = z
  .strictObject({
    id: z.string(),
    teamId: z.string(),
    lineId: z.string(),
    title: z.string(),
    url: z.string(),
    assignee: z.string().nullable(),
    /** Null if unknown. */
    openedBy: shownOpenerSchema.nullable(),
    station: z.string(),
    state: z.enum(["queued", "running", "inbox", "done", "closed"]),
    /** The open pull request, or else the latest one; null if there is none. */
    pullRequest: z
      .strictObject({
        id: z.string(),
        repository: z.string(),
        number: z.int(),
        url: z.string(),
        state: z.enum(["open", "merged", "closed"]),
      })
      .nullable(),
    runId: z.string().nullable(),
    /** The question or notice for the assignee; null for none. */
    asks: z.string().nullable(),
    failure: failureSchema.nullable(),
    openedAt: z.string(),
    movedAt: z.string(),
    description: z.string(),
    /** The value of each mark, by kind. */
    marks: z.record(z.string(), z.string()),
    /** The branch at which the task's runs start; null for the default branch. */
    branch: z.string().nullable(),
    line: z.string(),
    /** The open approvals of the task's run, oldest first. The assignee answers them. */
    approvals: z.array(openApprovalSchema),
    reviews: z
      .strictObject({ repository: z.string().nullable(), ref: z.string(), url: z.string().nullable() })
      .optional()
      .describe("What the task's runs review; absent for a task that makes changes."),
  })
  .meta({ title: "task in a list" });

export type TaskState = TaskRow["state"];

/** The states of an open task. */
export const openStates = ["queued", "running", "inbox"] as const satisfies readonly TaskState[];

/** A pull request in the form that its task shows. */
export type TaskPullRequest = NonNullable<TaskRow["pullRequest"]>;

/** A stored task. */
export interface TaskRow
  extends Stored<typeof taskItemSchema, "description" | "openedBy" | "branch" | "line" | "approvals"> {
  readonly description: StoredText;
  /** Null if unknown. */
  readonly openedBy: Opener | null;
  /** The branch at which the task's runs start; absent for the default branch. */
  readonly branch?: string;
  /** The channel of the route that led to the task, by the integration's id; absent for none. */
  readonly channels?: Readonly<Record<string, string>>;
  /** What the task waits for in the inbox, unless its run waits for approvals; absent for nothing. */
  readonly waits?: TaskWait;
  /** How the task last left the inbox; absent if it never did. */
  readonly lastWait?: EndedTaskWait;
  /** Start of the current stay (state and station), in milliseconds since 1970; absent if unknown. */
  readonly partSinceMs?: number;
}

/** A task's wait for a person. */
export interface TaskWait {
  /**
   * `question`: a completed run leaves the decision to the assignee, usually with a question. `failure`: the task
   * cannot go on, for example after a failed run.
   */
  readonly kind: "question" | "failure";
  readonly sinceMs: number;
}

/** A wait that has ended. */
export interface EndedTaskWait extends TaskWait, Pick<TaskRow, "runId" | "asks" | "failure"> {
  readonly what: "answered" | "retried" | "moved" | "closed";
  /** Null if a token closed the task, or the service because the workspace was closed. */
  readonly by: string | null;
  readonly atMs: number;
}

/** A note on a task. */
export type TaskNote = Shown<typeof taskNoteSchema>;

/** A note as the API returns it. */
export const taskNoteSchema = z.strictObject({
  seq: z.int(),
  at: z.string(),
  from: z
    .string()
    .describe(
      "`person <id>`, `token <name>`, `trust <key>` for a token that a trust minted, `station <key>`, `hook <key>`, " +
        "`integration <key>`, or `service`.",
    ),
  text: z.string(),
});

/** The context of a task's machine. */
export interface TaskContext {
  /** The active run, or null. */
  readonly runId: string | null;
  /** Number of runs that were abandoned in a row. */
  readonly abandoned: number;
  /** The ended runs whose outcome can still change (`ended-runs.ts`), in the order in which they ended. */
  readonly ended: readonly EndedRun[];
  /** Pull requests that must be opened before the task is done. */
  readonly opening: readonly string[];
}

/** An ended run whose outcome can still change. */
export interface EndedRun {
  readonly runId: string;
  /** Key of the run's station. */
  readonly station: string;
  /** Whether the task continues with the run's change, which is neither accepted nor sent back yet. */
  readonly stands: boolean;
  /** Whether no person has acted on the task since the run ended. */
  readonly waits: boolean;
}

/** Where a task goes after a run. */
export interface NextStation {
  readonly next: "queued" | "inbox" | "done" | "opening";
  /** The station that the run handed over to; absent without a handover. */
  readonly to?: string;
  /** The question or notice for the assignee. */
  readonly asks?: string;
  /** The pull requests that the task waits for; absent if it waits for none. */
  readonly opening?: readonly string[];
}

/** Whether the task is neither done nor closed. */
export function isOpen<Task extends Pick<TaskRow, "state">>(
  task: Task,
): task is Task & { readonly state: (typeof openStates)[number] } {
  return openStates.some((state) => state === task.state);
}
