import type { Fact, GateQuestion } from "../../runtime/turn.js";

/** The events of a task's work that hooks act on (configuration API, Hook events). */
export type AfterEventName = "task.opened" | "task.moved" | "run.ended" | "tool.used" | "pull-request.merged";
export type BeforeEventName = "run.starting" | "handover.giving" | "tool.using" | "pull-request.opening";

/** A task as events, hook bodies and callbacks show it. */
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
  /** Pull request address or null. */
  readonly pullRequest: string | null;
}

/** What happened, or is about to: the payload that facts and gate questions about work share. */
export interface WorkEvent {
  readonly on: AfterEventName | BeforeEventName;
  /** The event occurrence; one may fire several hooks. A `occ_...` id. */
  readonly occurrence: string;
  readonly workspaceId: string;
  readonly teamId: string;
  readonly lineId: string;
  readonly stationId: string;
  readonly task: EventTask;
  /** Null on an event outside a run. */
  readonly run: { readonly id: string } | null;
  /** The event's own fields, `at` (ISO 8601) among them: `from` and `to` station keys, `outcome`, `note`. */
  readonly event: Readonly<Record<string, unknown>> & { readonly at: string };
  /** The firings (hook-occurrence ids) and events that caused this, oldest first. */
  readonly causes: readonly string[];
  /** A sample that is about no task. */
  readonly test?: true;
}

/** An after event: published as a fact under the event's name. */
export interface WorkFact extends Fact {
  readonly name: AfterEventName;
  readonly work: WorkEvent;
}

/** A before event: asked as a gate under the event's name. */
export interface WorkQuestion extends GateQuestion {
  readonly name: BeforeEventName;
  readonly work: WorkEvent;
}
