import type { Reading } from "../../storage/store.js";
import { listCopies } from "../replays/copies/replay-copy.table.js";
import type { ReplayRow } from "../replays/replay/replay.js";
import { isUnderWay } from "../replays/replay/replay.table.js";
import { findWait, type Wait } from "../replays/replay/replay-waiting.js";
import type { ReplaySides } from "./check-sides.js";

/**
 * Returns what a running check waits for at the time of a read: it waits only if each of its replays in progress waits;
 * otherwise null. A wait for runners takes precedence over a wait for the model. If `latest` is null, it ignores
 * runners and finds only waits for the model, which are in rows. `latest` should cache pictures, as for {@link
 * findWait}.
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
