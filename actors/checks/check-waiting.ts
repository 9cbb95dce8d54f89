import type { Reading } from "../../storage/store.js";
import type { ReplayRow } from "../replays/replay.js";
import { isUnderWay } from "../replays/replay.table.js";
import { listCopies } from "../replays/replay-copy.table.js";
import { findWait, type Wait } from "../replays/replay-waiting.js";
import type { ReplaySides } from "./check-sides.js";

/**
 * What a check that runs waits for at the time of a read: something, when each of its replays that is under way waits,
 * runners before the model; null while one goes on. Without `latest` runners are not looked at, and only a wait for the
 * model, which is in rows, is found. `latest` keeps pictures, as for {@link findWait}.
 */
export function whatCheckWaitsFor(
  latest: Reading | null,
  workspaceId: string,
  { candidate, baseline }: Pick<ReplaySides, "candidate" | "baseline">,
): Wait | null {
  const waits = [candidate, baseline]
    .flatMap((side) => (side !== null && isUnderWay(side.replay) ? [side.replay] : []))
    .map((replay) => waitOf(latest, workspaceId, replay));
  if (waits.includes(null)) return null;
  return waits.find((wait) => wait?.for === "runner") ?? waits[0] ?? null;
}

function waitOf(latest: Reading | null, workspaceId: string, replay: ReplayRow): Wait | null {
  if (latest === null) return replay.waiting;
  const mayWait = replay.counts.running === 0 && replay.counts.queued > 0;
  return findWait(latest, workspaceId, { replay, copies: mayWait ? listCopies(latest, workspaceId, replay.id) : [] });
}
