import { z } from "zod";
import type { Reading } from "../../storage/store.js";
import { type StreamTopic, type TopicSubject, toAll } from "../access/stream-topic.js";
import { findMemberWorkspace } from "../replays/member-workspace.js";
import type { SearchCandidateRow, SearchRow } from "./search.js";
import { searches } from "./search.table.js";
import { listFrontier } from "./search.view.js";
import { listCandidates } from "./search-candidate.table.js";
import { searchCandidateView } from "./search-candidate.view.js";
import { readSpent, searchItemView } from "./search-item.view.js";
import { listIterations, searchIterations } from "./search-iteration.table.js";
import { shortIteration } from "./short-iteration.js";

/** Entries that are read as what they name is now; of iterations those of releases before, which name them alone. */
const expanded = z.union([
  z.object({ type: z.literal("iteration"), number: z.int() }),
  z.object({ type: z.literal("candidate"), candidateId: z.string() }),
]);

/**
 * The topic of a search, for those who may read its team's outcomes. Its id is looked up within a workspace. Iterations
 * and candidates are sent whole when they changed, without long texts; a candidate has its figures once its replay
 * ended, which has a stream of its own until then. So each message is short, and nothing is measured for it.
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

/** A candidate without its hypothesis and its changes; `frontier` says whether it is on it. */
function shortCandidate(reading: Reading, workspaceId: string, search: SearchRow, row: SearchCandidateRow) {
  const { currency } = search.budget.ceiling;
  const view = searchCandidateView(reading, workspaceId, { now: asStored(row), currency, onFrontier: false });
  const { hypothesis: _hypothesis, changes: _changes, onFrontier: _onFrontier, ...short } = view;
  return short;
}

function asStored(row: SearchCandidateRow) {
  return { row, searched: row.searched, heldOut: row.heldOut };
}
