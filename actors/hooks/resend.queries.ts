import { ulidTime } from "../../runtime/turns/ids.js";
import type { Reading } from "../../storage/store.js";
import { findResource } from "../resources/resource.table.js";
import type { HookOccurrence } from "./hook-occurrence.js";
import { failedHookOccurrences, findHookOccurrence } from "./hook-occurrence.table.js";

/** Selects a team's failed hook occurrences by the time of their events. */
export interface ResendPeriod {
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
  /** Only occurrences of the hook with this key; null for all hooks. */
  readonly hook: string | null;
  /** Only occurrences after this id; null for all. */
  readonly after: string | null;
}

interface Team {
  readonly workspaceId: string;
  readonly teamId: string;
}

/**
 * Lists the first failed hook occurrences of a period that can be resent, oldest first. Returns at most `maxFound`
 * occurrences and reads at most `scanLimit` rows. `next` is where to continue, or null at the end of the period.
 *
 * Leaves out:
 *
 * - occurrences that the loop guard stopped
 * - occurrences that already have a resend, unless that resend failed
 * - resends and tests
 * - occurrences of deleted hooks
 */
export function listFailed(
  reading: Reading,
  { workspaceId, teamId }: Team,
  { fromMs, toMs, hook, after }: ResendPeriod,
  { maxFound, scanLimit }: { readonly maxFound: number; readonly scanLimit: number },
): { readonly found: readonly HookOccurrence[]; readonly next: string | null } {
  const found: HookOccurrence[] = [];
  const page = {
    after: [teamId, after ?? `occ_${ulidTime(fromMs)}`],
    before: [teamId, `occ_${ulidTime(toMs)}`],
    limit: scanLimit,
  };
  const entries = failedHookOccurrences.entries(reading, workspaceId, [teamId], page);
  for (const { key } of entries) {
    const id = String(key.at(-1));
    const hookOccurrence = findHookOccurrence(reading, workspaceId, teamId, id);
    if (
      hookOccurrence !== undefined &&
      (hook ?? hookOccurrence.hook) === hookOccurrence.hook &&
      waitsForResend(reading, workspaceId, hookOccurrence)
    ) {
      found.push(hookOccurrence);
    }
    if (found.length === maxFound) return { found, next: id };
  }
  const last = entries.at(-1)?.key.at(-1);
  return { found, next: entries.length < scanLimit || last === undefined ? null : String(last) };
}

function waitsForResend(reading: Reading, workspaceId: string, hookOccurrence: HookOccurrence): boolean {
  const { code, resends, resentAs, work, hookId } = hookOccurrence;
  if (code === "loop" || resends !== null || work.test === true) return false;
  const latest = resentAs === null ? hookOccurrence : findHookOccurrence(reading, workspaceId, work.teamId, resentAs);
  return latest?.state === "failed" && findResource(reading, workspaceId, "hook", hookId) !== undefined;
}

/** Maximum number of hook occurrences to count for one response. The next constant is the number per slice. */
const MAX_COUNTED = 10_000;
const COUNTED_AT_ONCE = 500;

/** How many hook occurrences of a period can be resent. */
export interface ResendCount {
  readonly count: number;
  /** Whether the period may have more occurrences than were counted. */
  readonly isMore: boolean;
}

/** Counts a period's occurrences in slices. The last yielded count is the answer. */
export function* countFailed(reading: Reading, team: Team, period: ResendPeriod): Generator<ResendCount> {
  let count = 0;
  let { after } = period;
  do {
    const slice = { maxFound: COUNTED_AT_ONCE, scanLimit: COUNTED_AT_ONCE };
    const { found, next } = listFailed(reading, team, { ...period, after }, slice);
    count += found.length;
    after = next;
    yield { count, isMore: after !== null };
  } while (after !== null && count < MAX_COUNTED);
}
