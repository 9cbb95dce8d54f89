import { type ChangeEntry, toChangeEntry, topic } from "../../../runtime/feeds/topic.js";
import { changedMembers } from "../../tables/changed-members.js";
import type { PublishedWrite } from "../../tables/on-write.js";
import type { ReplayRow } from "../replay/replay.js";
import { replaySetTopic } from "../sets/replay-set.table.js";
import { replayRowView } from "./replay-row.view.js";
import type { ReplayRowView } from "./replay-schemas.js";

/**
 * A change on a replay's stream, one of these:
 * - the replay's changed members, with its id;
 * - a changed copy, of which readers receive the current view;
 * - the deletion of the replay.
 */
export type ReplayChange =
  | { readonly type: "replay"; readonly replay: Pick<ReplayRowView, "id"> & Partial<ReplayRowView> }
  | CopyChange
  | { readonly type: "deleted" };

interface CopyChange {
  readonly type: "copy";
  readonly place: number;
  readonly repeat: number;
}

export const replayTopic = topic<ReplayChange>("replay");

/** Changes of a search's replays on the search's stream: a replay's new state, or `gone`. */
export const searchedReplayTopic = topic<{
  readonly type: "replay";
  readonly replay: { readonly id: string; readonly state: ReplayRow["state"] | "gone" };
}>("search");

/**
 * Returns the stream entries for a write to a replay: for the replay's stream, and for the streams of its set and its
 * search.
 */
export function replayChanges(replay: ReplayRow, { first }: Pick<PublishedWrite<ReplayRow>, "first">): ChangeEntry[] {
  const { id, setId, state, candidate, judged, search } = replay;
  const view = replayRowView(replay);
  const changed = changedMembers(first === null ? null : replayRowView(first), view);
  const entries: ChangeEntry[] = [];
  if (Object.keys(changed).length > 0) {
    entries.push(toChangeEntry(replayTopic(id), { type: "replay", replay: { ...changed, id } }));
  }
  const isMoved = first === null || first.state !== state;
  if (isMoved) entries.push(toChangeEntry(replaySetTopic(setId), { type: "replay", replay: { id, candidate, state } }));
  if (isMoved && search !== null) {
    entries.push(toChangeEntry(searchedReplayTopic(search.searchId), { type: "replay", replay: { id, state } }));
  }
  const isMeasuring = candidate.kind === "live" || candidate.kind === "with-answer";
  if (isMeasuring && (isMoved || first.judged !== judged)) entries.push(healthChange(setId));
  return entries;
}

/** Returns the stream entry for a set whose health must be read again. */
export function healthChange(setId: string): ChangeEntry {
  return toChangeEntry(replaySetTopic(setId), { type: "health" });
}

/** Returns the stream entry for a copy whose view changed. */
export function copyChange({ replayId, place, repeat }: Omit<CopyChange, "type"> & { readonly replayId: string }) {
  return toChangeEntry(replayTopic(replayId), { type: "copy", place, repeat });
}
