import { z } from "zod";
import type { Reading } from "../../storage/store.js";
import { teamKeyOf } from "../resources/indexes.js";
import { type ResourceRow, resourcesOf } from "../resources/resource-rows.js";
import type { WorkEvent } from "../tasks/work-event.js";
import { firingId } from "./firing.js";
import type { HookFields } from "./hook.kind.js";
import { conditionOutcome, type EventValues, eventValues } from "./hook-values.js";
import { type Mismatch, whyNotMatched } from "./matching.js";
import { firingOf } from "./occurrence-rows.js";

const firingShown = z.strictObject({ id: z.string(), state: z.string(), code: z.string().nullable() });

const mismatchShown = z.strictObject({
  condition: z
    .enum(["on", "lines", "stations", "repositories", "tools", "paths", "when", "written"])
    .describe("The first condition that does not hold; `written`: the hook was written as it is after the event."),
  wanted: z.unknown().describe("What the hook asks for."),
  saw: z.unknown().describe("What the event had."),
  error: z.string().nullable().describe("Why `when` came to nothing, when it did."),
});

/** What an event meant to one hook: exactly one of the two is there. */
export const hookVerdictSchema = z
  .strictObject({
    hookId: z.string(),
    hook: z.string(),
    firing: firingShown.nullable(),
    notFired: mismatchShown.nullable(),
  })
  .meta({ title: "hook-verdict" });

type HookVerdict = z.output<typeof hookVerdictSchema>;

export interface VerdictPage {
  /** Only hooks whose keys come after this one. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/**
 * What an event meant to each hook of its team, by key: the firing it led to, or the first condition that does not
 * hold. Conditions are those that the hook has now.
 */
export function hookVerdicts(reading: Reading, work: WorkEvent, { after, limit }: VerdictPage): HookVerdict[] {
  const { workspaceId, teamId } = work;
  const under = teamKeyOf(reading, workspaceId, teamId);
  const from = after === undefined ? {} : { after: `${under}/${after}` };
  const hooks = resourcesOf<HookFields>(reading, workspaceId, "hook", { under, ...from, limit });
  const values = eventValues(work);
  return hooks.map((hook) => {
    const firing = firingOf(reading, workspaceId, teamId, firingId(work, hook));
    const shown = firing === undefined ? null : { id: firing.id, state: firing.state, code: firing.code };
    const notFired = shown === null ? whyNotFired(hook, work, values) : null;
    return { hookId: hook.id, hook: hook.fields.key, firing: shown, notFired };
  });
}

function whyNotFired(
  hook: ResourceRow<HookFields>,
  work: WorkEvent,
  values: EventValues,
): NonNullable<HookVerdict["notFired"]> {
  const { fields, updatedAt } = hook;
  if (fields.on !== work.on) return { condition: "on", wanted: fields.on, saw: work.on, error: null };
  const mismatch = whyNotMatched(fields, work, () => values);
  if (mismatch === null) return { condition: "written", wanted: work.event.at, saw: updatedAt, error: null };
  return mismatch.condition === "when" ? whenVerdict(mismatch, fields, work, values) : { ...mismatch, error: null };
}

/** All that the condition could look at, and why it came to nothing. */
function whenVerdict(mismatch: Mismatch, fields: HookFields, work: WorkEvent, values: EventValues) {
  const outcome = conditionOutcome(fields.when ?? "", fields, values);
  const { event, task, run } = work;
  const error = "error" in outcome ? outcome.error : null;
  return { ...mismatch, saw: { event, task, run, vars: fields.vars }, error };
}
