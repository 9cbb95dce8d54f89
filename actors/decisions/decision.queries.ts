import type { Reading } from "../../storage/store.js";
import { seesOutcomes } from "../access/visibility/visibility.js";
import type { Caller } from "../caller.js";
import type { Cursor, Slice } from "../tables/page-source.js";
import type { StandingDecision } from "./decision.table.js";
import { type DecisionFilter, type DecisionPage, listStandingDecisions } from "./decision.view.js";

/**
 * Returns a function that reads the list of standing decisions in slices. The list has only the decisions of teams
 * whose outcomes the caller may read.
 */
export function visibleDecisions(
  reading: Reading,
  { caller, workspaceId }: { readonly caller: Caller; readonly workspaceId: string },
  filter: Omit<DecisionFilter, "seesTeam">,
  page: Omit<DecisionPage, "cursor">,
): (view: Reading, cursor: Cursor<StandingDecision> | null) => Slice<StandingDecision> {
  const known = new Map<string, boolean>();
  const seesTeam = (teamId: string): boolean => {
    const sees = known.get(teamId) ?? seesOutcomes(reading, caller, workspaceId, teamId);
    known.set(teamId, sees);
    return sees;
  };
  return (view, cursor) => listStandingDecisions(view, workspaceId, { ...filter, seesTeam }, { ...page, cursor });
}
