import type { Turn } from "../../runtime/turns/turn.js";
import { table } from "../../storage/table.js";
import { retain } from "../tables/retention.js";

/** Where an open task is at a station: in the queue for a runner, with a runner, or in the inbox. */
export type StayPart = "queued" | "running" | "inbox";

/**
 * A period that a task spent at one station in one of the {@link StayPart}s. The row is written at the end of the
 * period and never changed.
 */
export interface Stay {
  readonly id: string;
  readonly teamId: string;
  readonly taskId: string;
  readonly lineId: string;
  /** Key of the station. */
  readonly station: string;
  readonly part: StayPart;
  /** Start and end of the period, in milliseconds since 1970. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** Key: `[team, UTC day of the end (YYYY-MM-DD), stay]`. Stays are in the order of their ends. */
export const stays = table<Stay>("stay");

export const stayRetention = retain(stays, {
  period: "facts",
  lineParts: 1,
  startedAtMs: ({ toMs }) => toMs,
  endedAtMs: ({ toMs }) => toMs,
  remove: (turn, { teamId, toMs, id }) => {
    stays.remove(turn, turn.self.partition, teamId, toDay(toMs), id);
    return true;
  },
});

/** Records a stay that ends in this turn. */
export function recordStay(turn: Turn, stay: Omit<Stay, "id" | "toMs">): void {
  const id = turn.newId("stay");
  stays.put(turn, turn.self.partition, [stay.teamId, toDay(turn.now), id], { id, ...stay, toMs: turn.now });
}

/** The UTC day of a time in milliseconds since 1970, as `YYYY-MM-DD`. */
export function toDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
