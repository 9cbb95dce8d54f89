import type { TurnReading } from "../../runtime/turns/turn.js";
import type { Refusal } from "../refusal.js";
import { findLeaving } from "../tables/room.js";
import type { ReplayCheckRow } from "./check.js";
import { replayChecks } from "./check.table.js";

/** Maximum number of checks stored for a set. */
const MAX_CHECKS = 200;

/** Returns the ids of the set's oldest ended checks to remove so that one more fits; refuses if too few have ended. */
export function findCheckRoom(turn: TurnReading, setId: string): readonly string[] | Refusal {
  const oldestFirst = replayChecks.all(turn, turn.self.partition, { setId }).toReversed();
  const mayGo = ({ endedAt }: ReplayCheckRow) => endedAt !== null;
  const leaving = findLeaving(oldestFirst, { most: MAX_CHECKS, count: 1, mayGo });
  return leaving === null ? full : leaving.map(({ id }) => id);
}

const full: Refusal = {
  refused: "conflict",
  detail: `The set has its ${MAX_CHECKS} replay checks, and none of them has ended. Wait until one has.`,
};
