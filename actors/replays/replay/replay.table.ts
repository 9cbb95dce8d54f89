import type { Reading } from "../../../storage/store.js";
import { listedTable } from "../../tables/indexed-table.js";
import { replayChanges } from "../reads/replay-changes.js";
import type { ReplayRow } from "./replay.js";

/** A replay with the computed values for its indexes. */
interface ListedReplay extends ReplayRow {
  /** The set that the replay checks; null if the replay checks no set. */
  readonly checksSet: string | null;
  /** Null if no search started the replay. */
  readonly searchId: string | null;
}

/** Key: `[replay]`. Replay ids increase over time. */
export const replays = listedTable<ReplayRow, ListedReplay>("replay", {
  order: ["id"],
  listed: (replay) => ({
    ...replay,
    checksSet: replay.probe ? replay.setId : null,
    searchId: replay.search?.searchId ?? null,
  }),
  changes: (replay, _reading, write) => replayChanges(replay, write),
  indexes: {
    "set-replay": ["setId"],
    "set-replay-by-config": ["setId", "runningFingerprint", "scoringFingerprint"],
    "set-replay-checking": { by: ["checksSet"], has: ["checksSet"] },
    "search-replay": { by: ["searchId"], has: ["searchId"] },
    "team-replay": ["teamId"],
    "paired-replay": { by: ["pairedWith"], has: ["pairedWith"] },
    "replay-under-way": { by: ["teamId", "state"], only: { state: ["queued", "running"] } },
  },
});

/** Whether the replay has not ended. */
export function isUnderWay({ state }: Pick<ReplayRow, "state">): boolean {
  return state === "queued" || state === "running";
}

/** Lists the replays of a team, or of one of its sets, that have not ended, newest first. */
export function listUnderWay(
  reading: Reading,
  workspaceId: string,
  { teamId, setId }: { readonly teamId: string; readonly setId?: string },
): readonly ReplayRow[] {
  const found = (["queued", "running"] as const).flatMap((state) =>
    replays.all(reading, workspaceId, { teamId, state, setId }),
  );
  return found.sort((left, right) => (left.id < right.id ? 1 : -1));
}
