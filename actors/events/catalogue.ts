import type { Fact, GateQuestion } from "../../runtime/turns/turn.js";
import { BOOL, DYN, STRING, type Type, toList, toMap } from "../expressions/cel-types.js";
import type { ShownOpener } from "../opener.js";

/**
 * Maximum number of events to store per team. Tool call events and all other events are counted separately, each with
 * this maximum. The oldest events are removed first.
 */
export const MAX_STORED_EVENTS = 1_000;

/** The rules of an event that hooks can match (configuration API, Hook events). */
export interface WorkEventRule {
  /** A `before` event waits for its hooks, which may refuse it. */
  readonly timing: "before" | "after";
  readonly tools: boolean;
  readonly paths: boolean;
  /** Whether the event happens within a run, so that expressions can read the run. */
  readonly inRun: boolean;
  /** The event's fields in addition to `at`. */
  readonly fields: Readonly<Record<string, Type>>;
  /** Whether this release produces the event. */
  readonly served: boolean;
}

const CALL = { tool: STRING, inputs: toMap(STRING, DYN) };
const CHANGED = { repository: STRING, changed: toList(STRING) };

export const workEvents = {
  "tool.using": { timing: "before", tools: true, paths: false, inRun: true, fields: CALL, served: true },
  "tool.used": {
    timing: "after",
    tools: true,
    paths: false,
    inRun: true,
    fields: { ...CALL, output: DYN, failed: BOOL },
    served: true,
  },
  "run.starting": { timing: "before", tools: false, paths: false, inRun: true, fields: {}, served: true },
  "run.ended": { timing: "after", tools: false, paths: false, inRun: true, fields: { outcome: STRING }, served: true },
  "handover.giving": {
    timing: "before",
    tools: false,
    paths: false,
    inRun: true,
    fields: { to: STRING, note: STRING },
    served: true,
  },
  "pull-request.opening": {
    timing: "before",
    tools: false,
    paths: true,
    inRun: true,
    fields: { ...CHANGED, branch: STRING, title: STRING },
    served: true,
  },
  "pull-request.merged": {
    timing: "after",
    tools: false,
    paths: true,
    inRun: false,
    fields: { ...CHANGED, url: STRING, mergeCommit: STRING },
    served: true,
  },
  "task.opened": { timing: "after", tools: false, paths: false, inRun: false, fields: {}, served: true },
  "task.moved": {
    timing: "after",
    tools: false,
    paths: false,
    inRun: false,
    fields: { from: STRING, to: STRING },
    served: true,
  },
} as const satisfies Readonly<Record<string, WorkEventRule>>;

export type WorkEventName = keyof typeof workEvents;

export const workEventNames = Object.keys(workEvents) as [WorkEventName, ...WorkEventName[]];

type NamesTimed<Timing extends WorkEventRule["timing"]> = {
  [Name in WorkEventName]: (typeof workEvents)[Name]["timing"] extends Timing ? Name : never;
}[WorkEventName];

/** Names of events that have happened. Each event is published as a fact with the event's name. */
export type AfterEventName = NamesTimed<"after">;
/** Names of events that are about to happen. Each event is a gate question with the event's name. */
export type BeforeEventName = NamesTimed<"before">;

/** Whether the event has already happened when hooks receive it. */
export function isAfterEvent(name: WorkEventName): name is AfterEventName {
  return workEvents[name].timing === "after";
}

/** Whether the event waits for its hooks. */
export function isBeforeEvent(name: WorkEventName): name is BeforeEventName {
  return workEvents[name].timing === "before";
}

/** A task in events, hook bodies and callbacks. */
export interface EventTask {
  readonly id: string;
  readonly title: string;
  readonly url: string;
  /** Line key. */
  readonly line: string;
  /** Station name. */
  readonly station: string;
  readonly stationKey: string;
  readonly marks: Readonly<Record<string, string>>;
  /** The line's repositories, `owner/name`. */
  readonly repositories: readonly string[];
  /** The address of the task's pull request; null if there is none. */
  readonly pullRequest: string | null;
  /** Null if unknown; absent in stored events of earlier releases. */
  readonly openedBy?: ShownOpener | null;
}

/**
 * An event about work. The fact of an `after` event and the gate question of a `before` event both have this payload.
 */
export interface WorkEvent {
  readonly on: WorkEventName;
  /** The event's id (`occ_...`). One event may fire several hooks. */
  readonly occurrence: string;
  readonly workspaceId: string;
  readonly teamId: string;
  readonly lineId: string;
  readonly stationId: string;
  readonly task: EventTask;
  /** Null for an event outside a run. */
  readonly run: { readonly id: string } | null;
  /**
   * The event's own fields: `at` (ISO 8601), and others such as `outcome`, `note`, or the station keys `from` and `to`.
   */
  readonly event: Readonly<Record<string, unknown>> & { readonly at: string };
  /** Ids of the hook occurrences and events that caused this event, oldest first. */
  readonly causes: readonly string[];
  /** True for a sample that belongs to no task. */
  readonly test?: true;
}

/** An `after` event, published as a fact with the event's name. */
export interface WorkFact extends Fact {
  readonly name: AfterEventName;
  readonly work: WorkEvent;
}

/** A `before` event, sent to a gate with the event's name. */
export interface WorkQuestion extends GateQuestion {
  readonly name: BeforeEventName;
  readonly work: WorkEvent;
}
