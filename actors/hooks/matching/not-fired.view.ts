import { z } from "zod";
import type { Reading } from "../../../storage/store.js";
import type { WorkEvent } from "../../events/catalogue.js";
import type { Work } from "../../expressions/meter.js";
import { listResources, type ResourceRow } from "../../resources/resource.table.js";
import { getTeamKey } from "../../resources/resource-indexes.table.js";
import type { HookFields } from "../hook.js";
import { mayBePruned } from "../hook-occurrence.retention.js";
import { findHookOccurrence } from "../hook-occurrence.table.js";
import { type Condition, conditionNames, getConditions, type Subject } from "./conditions.js";
import { hookOccurrenceId } from "./fire-hooks.js";
import { evaluateConditions } from "./lookup-keys.js";
import { MAX_MATCH_COST, toSubject } from "./match-hooks.js";

const hookOccurrenceSummary = z.strictObject({
  id: z.string().describe("The id of the firing that the event caused (`occ_…`)."),
  state: z.string().describe("The current state of that firing, such as `delivered`."),
  code: z.string().nullable().describe("Why that firing failed, such as `timeout`; null unless it failed."),
});

const mismatchSchema = z.strictObject({
  condition: z
    .enum(["on", ...conditionNames, "written"])
    .describe(
      "The first condition that did not match. `written`: the hook got its current definition after the event.",
    ),
  wanted: z.unknown().describe("The value that the hook requires."),
  expression: z.string().nullable().describe("The condition as an expression; null for `on` and `written`."),
  saw: z.unknown().describe("The value that the event had."),
  error: z.string().nullable().describe("The error, if the condition could not be evaluated; otherwise null."),
});

/**
 * The result of an event for one hook. Exactly one of `firing` and `notFired` is set, unless the result is `unknown`.
 */
export const hookMatchSchema = z
  .strictObject({
    hookId: z.string().describe("The id of the hook that was compared with the event (`hook_…`)."),
    hook: z.string().describe("The key of the hook in its team."),
    firing: hookOccurrenceSummary
      .nullable()
      .describe("The firing that the event caused; null if the hook did not fire."),
    notFired: mismatchSchema.nullable().describe("Why the hook did not fire; null if it fired, or if that is unknown."),
    unknown: z
      .boolean()
      .describe("Whether the result is unknown: the service no longer stores firings for events of that time."),
  })
  .meta({ title: "hook-verdict" });

type HookMatch = z.output<typeof hookMatchSchema>;

export interface HookMatchPage {
  /** Only hooks with a later key. */
  readonly after?: string | undefined;
  readonly limit: number;
}

export interface HookMatches {
  readonly hooks: readonly HookMatch[];
  /** The key after which the next page starts; null on the last page. */
  readonly next: string | null;
}

/** Cost limit of one page, in units of the meter. The first hook is always included. */
const UNITS_A_PAGE = 50_000;

/**
 * Lists the hooks of the event's team by key, each with its result for the event. The result is the hook occurrence
 * that the event created, or the first current condition of the hook that does not hold. A page has fewer hooks if
 * their conditions are expensive.
 */
export function listHookMatches(reading: Reading, work: WorkEvent, { after, limit }: HookMatchPage): HookMatches {
  const { workspaceId, teamId } = work;
  const under = getTeamKey(reading, workspaceId, teamId);
  const from = after === undefined ? {} : { after: `${under}/${after}` };
  const listed = listResources<HookFields>(reading, workspaceId, "hook", { under, ...from, limit: limit + 1 });
  const subject = toSubject(work);
  const isPruned = mayBePruned(reading, work);
  const left = { units: UNITS_A_PAGE };
  const hooks: HookMatch[] = [];
  for (const hook of listed.slice(0, limit)) {
    if (left.units <= 0) break;
    const found = findHookOccurrence(reading, workspaceId, teamId, hookOccurrenceId(work, hook));
    const firing = found === undefined ? null : { id: found.id, state: found.state, code: found.code };
    const unknown = firing === null && isPruned;
    const notFired = firing === null && !unknown ? whyNotFired(hook, subject, left) : null;
    hooks.push({ hookId: hook.id, hook: hook.fields.key, firing, notFired, unknown });
  }
  return { hooks, next: listed.length > hooks.length ? (hooks.at(-1)?.hook ?? null) : null };
}

function whyNotFired(hook: ResourceRow<HookFields>, subject: Subject, left: Work): NonNullable<HookMatch["notFired"]> {
  const { fields, updatedAt } = hook;
  const { work } = subject;
  const none = { expression: null, error: null };
  if (fields.on !== work.on) return { condition: "on", wanted: fields.on, saw: work.on, ...none };
  const enough = { units: MAX_MATCH_COST };
  const result = evaluateConditions(getConditions(hook), subject, enough);
  left.units -= MAX_MATCH_COST - enough.units;
  if (typeof result === "string") return { condition: "written", wanted: work.event.at, saw: updatedAt, ...none };
  return toMismatch(result, subject, left);
}

/** Returns the values that a failing condition read, and its error if its evaluation failed. */
function toMismatch(condition: Condition, subject: Subject, left: Work): NonNullable<HookMatch["notFired"]> {
  const { name, wanted, expression, saw } = condition;
  const outcome = condition.outcome(subject, left);
  const error = outcome !== null && "error" in outcome ? outcome.error : null;
  return { condition: name, wanted, expression, saw: saw(subject.work), error };
}
