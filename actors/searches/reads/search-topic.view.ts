import { z } from "zod";
import type { Reading } from "../../../storage/store.js";
import { type StreamTopic, type TopicSubject, toAll } from "../../access/visibility/stream-topic.js";
import { findMemberWorkspace } from "../../replays/reads/member-workspace.js";
import { listCandidates } from "../candidates/search-candidate.table.js";
import { listIterations, searchIterations } from "../iterations/search-iteration.table.js";
import { shortIteration } from "../iterations/short-iteration.js";
import type { SearchCandidateRow, SearchRow } from "../search/search.js";
import { searches } from "../search/search.table.js";
import { listFrontier } from "./search.view.js";
import { searchCandidateView } from "./search-candidate.view.js";
import { readSpent, searchItemView } from "./search-item.view.js";

/**
 * Stream entries that only name an iteration or a candidate. Readers receive the current view of the named item
 * instead. Only earlier releases wrote such entries for iterations.
 */
const expanded = z.union([
  z.object({ type: z.literal("iteration"), number: z.int() }),
  z.object({ type: z.literal("candidate"), candidateId: z.string() }),
]);

/**
 * The topic of a search, for callers who may read the team's outcomes. `workspaceOf` looks for the search in the
 * caller's workspaces, because search ids are stored by workspace.
 *
 * A changed iteration or candidate is sent completely, but without long texts. A candidate in a message has figures
 * only after its replay ended; until then, readers can follow the replay's own stream. So messages stay short, and no
 * figures are measured for a message.
 */
export const searchTopicView: StreamTopic = {
  workspaceOf: (reading, caller, id) =>
    findMemberWorkspace(reading, caller, (workspaceId) => searches.get(reading, workspaceId, id) !== undefined),
  audience: (reading, { workspaceId, id }) => {
    const search = searches.get(reading, workspaceId, id);
    return search === undefined ? undefined : { outcomesOf: search.teamId };
  },
  view: (reading, { workspaceId, id }) => {
    const search = searches.get(reading, workspaceId, id);
    if (search === undefined) return undefined;
    const rows = listCandidates(reading, workspaceId, id);
    return {
      search: searchItemView(search, readSpent(reading, workspaceId, search)),
      iterations: listIterations(reading, workspaceId, id).map(shortIteration),
      candidates: rows.map((row) => shortCandidate(reading, workspaceId, search, row)),
      frontier: listFrontier(search, rows.map(asStored)),
    };
  },
  change: (reading, subject, data) => {
    const { data: changed } = expanded.safeParse(data);
    if (changed === undefined) return toAll(data);
    return toAll(
      changed.type === "iteration"
        ? iterationMessage(reading, subject, changed.number)
        : candidateMessage(reading, subject, changed.candidateId),
    );
  },
};

function iterationMessage(reading: Reading, { workspaceId, id }: TopicSubject, number: number) {
  const row = searchIterations.get(reading, workspaceId, id, number);
  return row === undefined ? undefined : { type: "iteration", iteration: shortIteration(row) };
}

function candidateMessage(reading: Reading, { workspaceId, id }: TopicSubject, candidateId: string) {
  const search = searches.get(reading, workspaceId, id);
  const rows = listCandidates(reading, workspaceId, id);
  const row = rows.find((each) => each.candidateId === candidateId);
  if (search === undefined || row === undefined) return undefined;
  const candidate = shortCandidate(reading, workspaceId, search, row);
  return { type: "candidate", candidate, frontier: listFrontier(search, rows.map(asStored)) };
}

/**
 * Shows a candidate without its hypothesis and changes. Also omits the frontier mark, because the message lists the
 * frontier.
 */
function shortCandidate(reading: Reading, workspaceId: string, search: SearchRow, row: SearchCandidateRow) {
  const { currency } = search.budget.ceiling;
  const view = searchCandidateView(reading, workspaceId, { now: asStored(row), currency, onFrontier: false });
  const { hypothesis: _hypothesis, changes: _changes, onFrontier: _onFrontier, ...short } = view;
  return short;
}

function asStored(row: SearchCandidateRow) {
  return { row, searched: row.searched, heldOut: row.heldOut };
}
