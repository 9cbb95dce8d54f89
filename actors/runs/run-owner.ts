import type { Reading } from "../../storage/store.js";
import type { EventSubject } from "../events/event-task.js";

/** Who may want a run. */
export type RunOwnerKind = "task" | "replay" | "search" | "stack-check";

/** Who wants a run. */
export interface RunOwnerKey {
  readonly kind: RunOwnerKind;
  readonly id: string;
}

/** A run, as its owner is asked about it. */
export interface OwnedRun {
  readonly id: string;
  readonly owner: RunOwnerKey;
}

/** What a run's agent is told of the work, as it stands when a runner claims the run. */
export interface RunBrief {
  /** The id of the task. */
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly url: string;
  readonly marks: Readonly<Record<string, string>>;
  /** What was said so far, oldest first. */
  readonly notes: readonly { readonly at: string; readonly from: string; readonly text: string }[];
}

/**
 * What runs need of their owners of one kind, in the turn of a run: whether there are hooks, handovers and people, and
 * what is read for one run. They read and do nothing else. What becomes of a run its owner is told at the address
 * that it gave (`run.began`, `run.asking`, `run.over`).
 */
export interface RunOwner {
  readonly kind: RunOwnerKind;
  /** Whether hooks are asked before a run starts: gate `run.starting`. */
  readonly hasGate: boolean;
  /** Whether hooks hear that a run ended: fact `run.ended`. */
  readonly hasHooks: boolean;
  /** What is said to a handover that the run's station allows: hooks are asked (`handover.giving`), or one answer to all. */
  readonly handOver: "gate" | "accepted" | "refused";
  /** Whether its assignee may speak to a run. What a run's agent was not given is sent to the owner as `note`. */
  readonly hasConversation: boolean;
  /** Whether its assignee is asked for leave to make a call; where there is nobody to ask, none is given. */
  readonly hasApprovals: boolean;
  /** User id, null for nobody; undefined when there is no such owner. */
  assignee(reading: Reading, workspaceId: string, run: OwnedRun): string | null | undefined;
  /** Null where no task stands behind a run: its job has none, and goes only to runners that know of such jobs. */
  readonly brief: ((reading: Reading, workspaceId: string, run: OwnedRun) => RunBrief) | null;
  /** The task as events show it; null where there is none, which no owner with a gate or hooks answers. */
  eventSubject(reading: Reading, workspaceId: string, run: OwnedRun): EventSubject | null;
}

/** The owner of this kind. Throws when there is none in the catalogue. */
export function getRunOwner(owners: readonly RunOwner[], kind: RunOwnerKind): RunOwner {
  const owner = owners.find((one) => one.kind === kind);
  if (owner === undefined) throw new Error(`nothing that wants runs is a ${kind}`);
  return owner;
}
