import type { Reading } from "../../storage/store.js";
import type { EventSubject } from "../events/event-task.js";
import type { Opener } from "../opener.js";
import type { StoredText } from "../tables/text-blobs.js";

/** The kinds of actors that can own a run. */
export type RunOwnerKind = "task" | "replay" | "search" | "stack-check";

/** Identifies the owner of a run. */
export interface RunOwnerKey {
  readonly kind: RunOwnerKind;
  readonly id: string;
}

/** The parts of a run that the functions of a {@link RunOwner} receive. */
export interface OwnedRun {
  readonly id: string;
  readonly owner: RunOwnerKey;
}

/** An attached file of the task, stored as a body. */
export interface BriefAttachment {
  readonly id: string;
  /** A file name, unique in the run. */
  readonly name: string;
  readonly type: string;
  readonly bytes: number;
  /** SHA-256 (hex) of the file. */
  readonly digest: string;
}

/** The description of the work for a run's agent, read when a runner claims the run. */
export interface RunBrief {
  /** The id of the task. */
  readonly id: string;
  readonly title: string;
  readonly description: StoredText;
  readonly url: string;
  readonly marks: Readonly<Record<string, string>>;
  /**
   * The branch or pull request that the run reviews; the run's only result is a comment. Absent for a task that changes
   * files.
   */
  readonly review?: { readonly repository: string | null; readonly ref: string; readonly url: string | null };
  /** The attached files that exist, oldest first; absent for none. */
  readonly attachments?: readonly BriefAttachment[];
  /** The notes so far, oldest first. */
  readonly notes: readonly { readonly at: string; readonly from: string; readonly text: string }[];
}

/**
 * One kind of run owner. Its members say whether the owner's runs have hooks, handovers, messages and approvals. Its
 * functions read the data of a run and write nothing. A run sends its reports to the address that the owner gave.
 */
export interface RunOwner {
  readonly kind: RunOwnerKind;
  /** Whether the owner is notified when a runner claims a run: message `run.claimed`. */
  readonly hearsClaims: boolean;
  /** Whether hooks decide before a run starts: gate `run.starting`. */
  readonly hasGate: boolean;
  /** Whether hooks receive the end of a run: fact `run.ended`. */
  readonly hasHooks: boolean;
  /**
   * Who answers a handover that the station allows. `gate`: hooks decide (gate `handover.giving`). `accepted` or
   * `refused`: every such handover gets this answer.
   */
  readonly handOver: "gate" | "accepted" | "refused";
  /** Whether the assignee may send messages to a run. Messages that the agent did not get go to the owner as `note`. */
  readonly hasConversation: boolean;
  /** Whether the assignee answers approvals. If false, the run dismisses each approval request at once. */
  readonly hasApprovals: boolean;
  /** The user id of the assignee, null for nobody, or undefined when the owner does not exist. */
  assignee(reading: Reading, workspaceId: string, run: OwnedRun): string | null | undefined;
  /**
   * Returns the brief for the agent of a run. The member itself is null if the owner gives its runs no brief. Such runs
   * need a runner that supports jobs without a task.
   */
  readonly brief: ((reading: Reading, workspaceId: string, run: OwnedRun) => RunBrief) | null;
  /**
   * Returns the opener of a run's task; null if unknown. The member itself is null if the owner's runs do not count in
   * team figures.
   */
  readonly opener: ((reading: Reading, workspaceId: string, run: OwnedRun) => Opener | null) | null;
  /** Returns the task as events show it; null if the run has no task, or if the task no longer exists. */
  eventSubject(reading: Reading, workspaceId: string, run: OwnedRun): EventSubject | null;
}

/** Returns the owner of this kind. Throws when the catalogue has none. */
export function getRunOwner(owners: readonly RunOwner[], kind: RunOwnerKind): RunOwner {
  const owner = owners.find((one) => one.kind === kind);
  if (owner === undefined) throw new Error(`nothing that wants runs is a ${kind}`);
  return owner;
}
