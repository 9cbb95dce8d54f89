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
    id: z.string().describe("The id of the task (`task_…`)."),
    teamId: z.string().describe("The team that the task belongs to."),
    lineId: z.string().describe("The id of the line that the task runs through."),
    title: z.string().describe("A short name for the work, at most 300 characters."),
    url: z.string().describe("The URL that the task comes from, such as that of an issue; empty for none."),
    assignee: z.string().nullable().describe("The person who answers the task's questions; null for nobody."),
    openedBy: shownOpenerSchema.nullable().describe("Who or what opened the task; null if unknown."),
    station: z.string().describe("The key of the task's current station."),
    state: z
      .enum(["queued", "running", "inbox", "done", "closed"])
      .describe(
        "`queued`: waits for a runner. `running`: an agent works. `inbox`: waits for a person. `done`: finished. " +
          "`closed`: ended by hand.",
      ),
    pullRequest: z
      .strictObject({
        id: z.string().describe("The id of the pull request in this service (`pr_…`)."),
        repository: z.string().describe("The repository of the pull request, as `owner/name`."),
        number: z.int().describe("The number of the pull request at the code host."),
        url: z.string().describe("The URL of the pull request at the code host."),
        state: z.enum(["open", "merged", "closed"]).describe("The state of the pull request at the code host."),
      })
      .nullable()
      .describe("The open pull request, or else the latest one; null if there is none."),
    runId: z.string().nullable().describe("The active run, or else the latest one; null before the first run."),
    asks: z.string().nullable().describe("The question or notice for the assignee; null for none."),
    failure: failureSchema.nullable().describe("Why the task's latest run failed; null if it did not fail."),
    openedAt: z.string().describe("When the task was opened, as an RFC 3339 time."),
    movedAt: z.string().describe("When the task came to its current station, as an RFC 3339 time."),
    description: z.string().describe("The work in detail, as its agents read it; empty for none."),
    marks: z
      .record(z.string(), z.string())
      .describe("The external objects that the task is about: the value of each mark, by kind."),
    branch: z.string().nullable().describe("The branch at which the task's runs start; null for the default branch."),
    line: z.string().describe("The key of the line that the task runs through."),
    approvals: z
      .array(openApprovalSchema)
      .describe("The open approvals of the task's run, oldest first. The assignee answers them."),
    reviews: z
      .strictObject({
        repository: z.string().nullable().describe("The repository to review; null for every repository of the line."),
        ref: z.string().describe("The branch or ref to review, such as `refs/pull/12/head`."),
        url: z.string().nullable().describe("The URL of the reviewed pull request; null for a branch."),
      })
      .optional()
      .describe("What the task's runs review; absent for a task that makes changes."),
  })
  .meta({ title: "task in a list", description: "A task without its notes and attachments." });

export type TaskState = TaskRow["state"];

/** The states of an open task. */
export const openStates = ["queued", "running", "inbox"] as const satisfies readonly TaskState[];

/** A pull request in the form that its task shows. */
export type TaskPullRequest = NonNullable<TaskRow["pullRequest"]>;

/** A stored task. */
export interface TaskRow
  extends Stored<typeof taskItemSchema, "description" | "openedBy" | "branch" | "line" | "approvals"> {
  readonly description: StoredText;
  /** The person, token or integration that opened the task; null if unknown. */
  readonly openedBy: Opener | null;
  /** The branch at which the task's runs start; absent for the default branch. */
  readonly branch?: string;
  /** The channel of the route that led to the task, by integration id; absent for none. */
  readonly channels?: Readonly<Record<string, string>>;
  /**
   * The question or failure with which the task waits in the inbox. Absent if the task waits for nothing, or for
   * approvals.
   */
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
  /** The person who ended the wait. Null if a token closed the task, or if the service closed it with the workspace. */
  readonly by: string | null;
  readonly atMs: number;
}

/** A note on a task. */
export type TaskNote = Shown<typeof taskNoteSchema>;

/** A note as the API returns it. */
export const taskNoteSchema = z.strictObject({
  seq: z.int().describe("The number of the note in its task; later notes have higher numbers."),
  at: z.string().describe("When the note was added, as an RFC 3339 time."),
  from: z
    .string()
    .describe(
      "`person <id>`, `token <name>`, `trust <key>` for a token that a trust minted, `station <key>`, `hook <key>`, " +
        "`integration <key>`, or `service`.",
    ),
  text: z.string().describe("The note as plain text or Markdown, as it was sent."),
});

/** The context of a task's machine. */
export interface TaskContext {
  /** The id of the active run; null if no run is active. */
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
