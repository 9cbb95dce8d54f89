/** Fires hooks manually, for an earlier event or with a sample. Callers need permission to configure hooks. */
import type { Reading } from "../../storage/store.js";
import type { VisibleTeam } from "../access/members/team.queries.js";
import { permit } from "../access/visibility/visibility.js";
import type { Caller } from "../caller.js";
import { invalid, isRefusal, type Refusal } from "../refusal.js";
import { findKnownResource, findResourceAt } from "../resources/resource.table.js";
import { findOwningWorkspace } from "../resources/resource-location.table.js";
import type { HookFields } from "./hook.js";
import type { FireHook } from "./hook-occurrence.messages.js";
import { findTeamHookOccurrence } from "./hook-occurrence.queries.js";
import type { ResendPeriod } from "./resend.queries.js";
import { createSampleEvent } from "./sample-event.js";

/**
 * Returns the message that fires a team's hook again. The hook gets the event of the earlier hook occurrence with this
 * id.
 */
export function toResend(reading: Reading, caller: Caller, team: VisibleTeam, id: string): FireHook | Refusal {
  const found = findTeamHookOccurrence(reading, team, id);
  if (isRefusal(found)) return found;
  const { workspaceId } = team;
  const refused = permit(reading, caller, workspaceId, "configure", "hook");
  if (refused !== null) return refused;
  const { hookId, work, resends } = found.hookOccurrence;
  if (findKnownResource(reading, workspaceId, "hook", hookId) === undefined) {
    return { refused: "conflict", detail: "The hook was deleted, so it cannot fire again." };
  }
  return { type: "hook.fire", hookId, work, resends: resends ?? id };
}

/** Returns the message that fires a hook with a sample event. `occurrence` becomes the sample event's id. */
export function toTest(
  reading: Reading,
  caller: Caller,
  hookId: string,
  sample: { readonly occurrence: string; readonly nowMs: number },
): FireHook | Refusal {
  const workspaceId = findOwningWorkspace(reading, "hook", hookId);
  if (workspaceId === undefined) return { refused: "not-found" };
  const refused = permit(reading, caller, workspaceId, "configure", "hook");
  if (refused !== null) return refused;
  const hook = findKnownResource<HookFields>(reading, workspaceId, "hook", hookId);
  if (hook === undefined) return { refused: "not-found" };
  return { type: "hook.fire", hookId, work: createSampleEvent(hook, sample), resends: null };
}

/**
 * Selects failed hook occurrences to resend by the time of their event, and optionally by their hook. `from` and `to`
 * are RFC 3339 times with any offset.
 */
export interface WantedPeriod {
  readonly from: string;
  readonly to: string;
  readonly hook?: string | undefined;
}

/** Validates the selection of a team's failed hook occurrences to resend, and returns it with times in milliseconds. */
export function toResendPeriod(
  reading: Reading,
  caller: Caller,
  { workspaceId, teamKey }: VisibleTeam,
  wanted: WantedPeriod,
): ResendPeriod | Refusal {
  const refused = permit(reading, caller, workspaceId, "configure", "hook");
  if (refused !== null) return refused;
  const { hook = null } = wanted;
  const period: ResendPeriod = { fromMs: Date.parse(wanted.from), toMs: Date.parse(wanted.to), hook, after: null };
  if (period.fromMs >= period.toMs) return invalid("to", "must be after from");
  const isThere = hook === null || findResourceAt(reading, workspaceId, "hook", `${teamKey}/${hook}`) !== undefined;
  return isThere ? period : invalid("hook", `there is no hook ${hook}`);
}
