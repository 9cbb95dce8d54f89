import type { Reading } from "../../storage/store.js";
import type { EventSubject } from "../events/event-task.js";
import type { Opener } from "../run-facts/opener.js";
import type { StoredText } from "../tables/text-blobs.js";

/** The kinds of actor that may own a run. */
export type RunOwnerKind = "task" | "replay" | "search" | "stack-check";

/** The owner of a run. */
export interface RunOwnerKey {
  readonly kind: RunOwnerKind;
  readonly id: string;
}

/** What the functions of an owner get of a run. */
export interface OwnedRun {
  readonly id: string;
  readonly owner: RunOwnerKey;
}

/** A file of the work, stored as a body. */
export interface BriefAttachment {
  readonly id: string;
  /** A file name, unique in the run. */
  readonly name: string;
  readonly type: string;
  readonly bytes: number;
  /** SHA-256, hex. */
  readonly digest: string;
}

/** The description of the work for a run's agent; read when a runner claims the run. */
export interface RunBrief {
  /** The id of the task. */
  readonly id: string;
  readonly title: string;
  readonly description: StoredText;
  readonly url: string;
  readonly marks: Readonly<Record<string, string>>;
  /** What the run reviews, and says as a comment alone; absent for a task that changes things. */
  readonly review?: { readonly repository: string | null; readonly ref: string; readonly url: string | null };
  /** The files that are there, oldest first; absent for none. */
  readonly attachments?: readonly BriefAttachment[];
  /** The notes so far, oldest first. */
  readonly notes: readonly { readonly at: string; readonly from: string; readonly text: string }[];
}

/**
 * What runs need to know of the owners of one kind, in the turn of a run: whether there are hooks, handovers and
 * people, and what to read for one run. The functions read only. A run reports to its owner with messages to the
 * address that the owner gave (`run.began`, `run.asking`, `run.over`).
 */
export interface RunOwner {
  readonly kind: RunOwnerKind;
  /** Whether the owner is told when a runner takes a run: message `run.claimed`. */
  readonly hearsClaims: boolean;
  /** Whether hooks are asked before a run starts: gate `run.starting`. */
  readonly hasGate: boolean;
  /** Whether hooks get the end of a run: fact `run.ended`. */
  readonly hasHooks: boolean;
  /** The answer to a handover that the run's station allows: by hooks (gate `handover.giving`), or always the same. */
  readonly handOver: "gate" | "accepted" | "refused";
  /** Whether the assignee may send messages to a run. Those that the agent did not get go to the owner as `note`. */
  readonly hasConversation: boolean;
  /** Whether the assignee is asked for approvals; without anybody to ask they are dismissed. */
  readonly hasApprovals: boolean;
  /** User id, or null for nobody; undefined when the owner does not exist. */
  assignee(reading: Reading, workspaceId: string, run: OwnedRun): string | null | undefined;
  /** Null for runs without a task: their jobs have none and go only to runners that know such jobs. */
  readonly brief: ((reading: Reading, workspaceId: string, run: OwnedRun) => RunBrief) | null;
  /**
   * Who opened the task of a run; null where nothing says it. No function where the runs are no part of the figures of a
   * team.
   */
  readonly opener: ((reading: Reading, workspaceId: string, run: OwnedRun) => Opener | null) | null;
  /** The task as events show it; null without a task, which an owner with a gate or hooks never returns. */
  eventSubject(reading: Reading, workspaceId: string, run: OwnedRun): EventSubject | null;
}

/** The owner of this kind. Throws when there is none in the catalogue. */
export function getRunOwner(owners: readonly RunOwner[], kind: RunOwnerKind): RunOwner {
  const owner = owners.find((one) => one.kind === kind);
  if (owner === undefined) throw new Error(`nothing that wants runs is a ${kind}`);
  return owner;
}
