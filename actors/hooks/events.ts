/** The events that hooks may be on (configuration API, Hook events), as data. */
export interface HookEventRule {
  /** A before event waits for its hooks, which may refuse it. */
  readonly timing: "before" | "after";
  readonly tools: boolean;
  readonly paths: boolean;
  /** Whether the work that this release does produces it. */
  readonly served: boolean;
}

export const hookEvents = {
  "tool.using": { timing: "before", tools: true, paths: false, served: false },
  "tool.used": { timing: "after", tools: true, paths: false, served: false },
  "run.starting": { timing: "before", tools: false, paths: false, served: true },
  "run.ended": { timing: "after", tools: false, paths: false, served: true },
  "handover.giving": { timing: "before", tools: false, paths: false, served: true },
  "pull-request.opening": { timing: "before", tools: false, paths: true, served: false },
  "pull-request.merged": { timing: "after", tools: false, paths: true, served: false },
  "task.opened": { timing: "after", tools: false, paths: false, served: true },
  "task.moved": { timing: "after", tools: false, paths: false, served: true },
} as const satisfies Readonly<Record<string, HookEventRule>>;

export type HookEventName = keyof typeof hookEvents;

export const hookEventNames = Object.keys(hookEvents) as [HookEventName, ...HookEventName[]];
