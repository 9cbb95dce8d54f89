import { type ChangeEntry, toChangeEntry, topic } from "../../runtime/topic.js";
import { changedMembers } from "../tables/changed-members.js";
import type { PublishedWrite } from "../tables/on-write.js";
import type { SearchCandidateRow, SearchIterationRow, SearchRow } from "./search.js";
import { type SearchRowView, searchRowView } from "./search-item.view.js";

/**
 * What the stream of a search publishes: the members of the search that changed, and the id; an iteration or a candidate
 * of which something changed, which readers are sent as it is then; that it is gone. Its spending, states of its replays and
 * the pull requests of its candidates are published under the same topic by their own areas.
 */
type SearchChange =
  | { readonly type: "search"; readonly search: Pick<SearchRowView, "id"> & Partial<SearchRowView> }
  | { readonly type: "iteration"; readonly number: number }
  | { readonly type: "candidate"; readonly candidateId: string }
  | { readonly type: "deleted" };

export const searchTopic = topic<SearchChange>("search");

/** The stream entries of a search that was written; none when nothing of it that is shown changed. */
export function searchChanges(search: SearchRow, { first }: Pick<PublishedWrite<SearchRow>, "first">): ChangeEntry[] {
  const changed = changedMembers(first === null ? null : searchRowView(first), searchRowView(search));
  if (Object.keys(changed).length === 0) return [];
  const { id } = search;
  return [toChangeEntry(searchTopic(id), { type: "search", search: { ...changed, id } })];
}

export function iterationChange({ searchId, number }: Pick<SearchIterationRow, "searchId" | "number">): ChangeEntry {
  return toChangeEntry(searchTopic(searchId), { type: "iteration", number });
}

export function candidateChange({
  searchId,
  candidateId,
}: Pick<SearchCandidateRow, "searchId" | "candidateId">): ChangeEntry {
  return toChangeEntry(searchTopic(searchId), { type: "candidate", candidateId });
}
