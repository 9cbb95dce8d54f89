import { BOOL, DYN, listOf, mapOf, STRING, type Type } from "../expressions/cel-types.js";

/** The events that hooks may be on (configuration API, Hook events), as data. */
export interface HookEventRule {
  /** A before event waits for its hooks, which may refuse it. */
  readonly timing: "before" | "after";
  readonly tools: boolean;
  readonly paths: boolean;
  /** Whether it happens within a run, which expressions then see. */
  readonly inRun: boolean;
  /** The event's fields beside `at`. */
  readonly fields: Readonly<Record<string, Type>>;
  /** Whether the work that this release does produces it. */
  readonly served: boolean;
}

const CALL = { tool: STRING, inputs: mapOf(STRING, DYN) };
const CHANGED = { repository: STRING, changed: listOf(STRING) };

export const hookEvents = {
  "tool.using": { timing: "before", tools: true, paths: false, inRun: true, fields: CALL, served: false },
  "tool.used": {
    timing: "after",
    tools: true,
    paths: false,
    inRun: true,
    fields: { ...CALL, output: DYN, failed: BOOL },
    served: false,
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
    served: false,
  },
  "pull-request.merged": {
    timing: "after",
    tools: false,
    paths: true,
    inRun: false,
    fields: { ...CHANGED, url: STRING, mergeCommit: STRING },
    served: false,
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
} as const satisfies Readonly<Record<string, HookEventRule>>;

export type HookEventName = keyof typeof hookEvents;

export const hookEventNames = Object.keys(hookEvents) as [HookEventName, ...HookEventName[]];
