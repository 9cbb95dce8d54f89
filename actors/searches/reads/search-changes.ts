import { isDeepStrictEqual } from "node:util";
import { type ChangeEntry, toChangeEntry, topic } from "../../../runtime/feeds/topic.js";
import { changedMembers } from "../../tables/changed-members.js";
import type { PublishedWrite } from "../../tables/on-write.js";
import { shortIteration } from "../iterations/short-iteration.js";
import type { SearchCandidateRow, SearchIterationRow, SearchRow } from "../search/search.js";
import { type SearchRowView, searchRowView } from "./search-item.view.js";

/**
 * A change on a search's stream. `search` has the changed fields and the search's id. `iteration` has the iteration
 * without long texts. `candidate` names a changed candidate; readers receive its current view. `deleted` means that the
 * search was removed. Other areas publish the spending, the replay states and the candidates' pull requests on the same
 * topic.
 */
type SearchChange =
  | { readonly type: "search"; readonly search: Pick<SearchRowView, "id"> & Partial<SearchRowView> }
  | { readonly type: "iteration"; readonly iteration: ReturnType<typeof shortIteration> }
  | { readonly type: "candidate"; readonly candidateId: string }
  | { readonly type: "deleted" };

export const searchTopic = topic<SearchChange>("search");

/** Returns the stream entries for a write to a search. Returns an empty array if the search's view did not change. */
export function searchChanges(search: SearchRow, { first }: Pick<PublishedWrite<SearchRow>, "first">): ChangeEntry[] {
  const changed = changedMembers(first === null ? null : searchRowView(first), searchRowView(search));
  if (Object.keys(changed).length === 0) return [];
  const { id } = search;
  return [toChangeEntry(searchTopic(id), { type: "search", search: { ...changed, id } })];
}

/**
 * Returns the stream entries for a write to an iteration. Returns an empty array if the iteration's view did not
 * change.
 */
export function iterationChanges(
  row: SearchIterationRow,
  { first }: Pick<PublishedWrite<SearchIterationRow>, "first">,
): ChangeEntry[] {
  const iteration = shortIteration(row);
  if (first !== null && isDeepStrictEqual(shortIteration(first), iteration)) return [];
  return [toChangeEntry(searchTopic(row.searchId), { type: "iteration", iteration })];
}

/** Returns the stream entry for a changed candidate. */
export function candidateChange({
  searchId,
  candidateId,
}: Pick<SearchCandidateRow, "searchId" | "candidateId">): ChangeEntry {
  return toChangeEntry(searchTopic(searchId), { type: "candidate", candidateId });
}
