import type { WorkEvent } from "../tasks/work-event.js";
import type { HookFields } from "./hook.kind.js";

/** Whether every non-empty match list of the hook matches the event; an empty list matches everything. */
export function matches({ match, on }: Pick<HookFields, "match" | "on">, work: WorkEvent): boolean {
  return (
    on === work.on &&
    holds(match.lines, [work.task.line]) &&
    holds(match.stations, [work.task.stationKey]) &&
    holds(match.repositories, work.task.repositories)
  );
}

function holds(wanted: readonly string[], there: readonly string[]): boolean {
  return wanted.length === 0 || there.some((value) => wanted.includes(value));
}
