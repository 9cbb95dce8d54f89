import { type ChangeEntry, toChangeEntry, topic } from "../../runtime/topic.js";
import { changedMembers } from "../tables/changed-members.js";
import type { PublishedWrite } from "../tables/on-write.js";
import type { ReplayRow } from "./replay.js";
import { type ReplayRowView, replayRowView } from "./replay-row.view.js";
import { replaySetTopic } from "./replay-set.table.js";

/**
 * What the stream of a replay publishes: the members of the replay that changed, and the id; a copy of which something
 * changed, which readers are sent as it is then; that it is gone.
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

/** What the stream of a search publishes of its replays: one that is in another state, or `gone`. */
export const searchedReplayTopic = topic<{
  readonly type: "replay";
  readonly replay: { readonly id: string; readonly state: ReplayRow["state"] | "gone" };
}>("search");

/** The stream entries of a replay that was written: for its own readers, and for those of its set and its search. */
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

/** The stream entry of a set whose health is to be read anew. */
export function healthChange(setId: string): ChangeEntry {
  return toChangeEntry(replaySetTopic(setId), { type: "health" });
}

/** The stream entry of a copy of which something is shown that changed. */
export function copyChange({ replayId, place, repeat }: Omit<CopyChange, "type"> & { readonly replayId: string }) {
  return toChangeEntry(replayTopic(replayId), { type: "copy", place, repeat });
}
