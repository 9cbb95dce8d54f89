import { isDeepStrictEqual } from "node:util";
import { type ChangeEntry, toChangeEntry, topic } from "../../runtime/topic.js";
import { changedMembers } from "../tables/changed-members.js";
import type { PublishedWrite } from "../tables/on-write.js";
import type { SearchCandidateRow, SearchIterationRow, SearchRow } from "./search.js";
import { type SearchRowView, searchRowView } from "./search-item.view.js";
import { shortIteration } from "./short-iteration.js";

/**
 * What the stream of a search publishes: the members of the search that changed, and the id; an iteration as it
 * became, and a candidate of which something changed, which readers are sent as it is then; that it is gone. Its spending, states of its replays and
 * the pull requests of its candidates are published under the same topic by their own areas.
 */
type SearchChange =
  | { readonly type: "search"; readonly search: Pick<SearchRowView, "id"> & Partial<SearchRowView> }
  | { readonly type: "iteration"; readonly iteration: ReturnType<typeof shortIteration> }
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

/** The stream entries of an iteration that was written; none when nothing of it that is shown changed. */
export function iterationChanges(
  row: SearchIterationRow,
  { first }: Pick<PublishedWrite<SearchIterationRow>, "first">,
): ChangeEntry[] {
  const iteration = shortIteration(row);
  if (first !== null && isDeepStrictEqual(shortIteration(first), iteration)) return [];
  return [toChangeEntry(searchTopic(row.searchId), { type: "iteration", iteration })];
}

export function candidateChange({
  searchId,
  candidateId,
}: Pick<SearchCandidateRow, "searchId" | "candidateId">): ChangeEntry {
  return toChangeEntry(searchTopic(searchId), { type: "candidate", candidateId });
}
