import { ulidTime } from "../../runtime/ids.js";
import type { Reading } from "../../storage/store.js";
import { findResource } from "../resources/resource.table.js";
import { failedHookOccurrences, findHookOccurrence, type HookOccurrence } from "./hook-occurrence.table.js";

/** Selects failed hook occurrences of a team: those whose events happened between begin and end. */
export interface ResendPeriod {
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
  /** Only those of one hook, by its key. */
  readonly hook: string | null;
  /** Only those after this hook occurrence. */
  readonly after: string | null;
}

interface Team {
  readonly workspaceId: string;
  readonly teamId: string;
}

/**
 * The first of a period's hook occurrences that failed and wait to be sent again, oldest first: at most `maxFound`,
 * scanning at most `scanLimit` rows. `next` is where to continue, or null at the end of the period.
 *
 * Left out: what the loop guard stopped, what was sent again and has not failed since, tests, and deleted hooks.
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

/** Hook occurrences counted for one answer, and in one slice. */
const MAX_COUNTED = 10_000;
const COUNTED_AT_ONCE = 500;

/** How many hook occurrences of a period wait to be sent again. */
export interface ResendCount {
  readonly count: number;
  /** Whether there are more than the limit of counting. */
  readonly isMore: boolean;
}

/** Counts in slices; the last count that it yields is the answer. */
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
