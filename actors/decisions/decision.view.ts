import type { Reading } from "../../storage/store.js";
import type { Cursor, Slice } from "../tables/page-source.js";
import { timeText } from "../time-text.js";
import { defineView, type Shown } from "../view.js";
import { type DecisionRow, decisionSchema } from "./decision.js";
import { decisions, type StandingDecision, standingDecisions } from "./decision.table.js";

/** The filters of a list. A decision must match all given filters. */
export interface DecisionFilter {
  readonly repository: string | undefined;
  /**
   * The path of a file or, if it ends with `/`, of a folder. A folder matches all files in it. Undefined for any path.
   */
  readonly path: string | undefined;
  /** Merged at this time or later; undefined for no limit. */
  readonly sinceMs: number | undefined;
  /** Merged before this time; undefined for no limit. */
  readonly untilMs: number | undefined;
  /** Whether the reader may see the team's outcomes. */
  readonly seesTeam: (teamId: string) => boolean;
}

/** A decision's position in the list. */
export interface DecisionPlace {
  readonly mergedAtMs: number;
  readonly id: string;
}

/** A page of the list. */
export interface DecisionPage {
  /** The page starts after this position; null for the first page. */
  readonly after: DecisionPlace | null;
  readonly limit: number;
  /** Where the previous slice stopped; null for the first slice. */
  readonly cursor: Cursor<StandingDecision> | null;
}

/** Lists a slice of the standing decisions, latest merge first. */
export function listStandingDecisions(
  reading: Reading,
  workspaceId: string,
  filter: DecisionFilter,
  { after, limit, cursor }: DecisionPage,
): Slice<StandingDecision> {
  const { repository, sinceMs, untilMs } = filter;
  const until = untilMs === undefined ? undefined : [untilMs];
  return standingDecisions.page(
    reading,
    workspaceId,
    { repository },
    {
      // `after` also excludes all decisions of its own millisecond. So use the millisecond before `sinceMs`.
      after: sinceMs === undefined ? undefined : [sinceMs - 1],
      before: after === null ? until : [after.mergedAtMs, after.id],
      limit,
      cursor,
      fits: (standing) => fits(standing, filter),
    },
  );
}

function fits({ teamId, paths }: StandingDecision, { path, seesTeam }: DecisionFilter): boolean {
  if (!seesTeam(teamId)) return false;
  if (path === undefined) return true;
  return paths.some((each) => (path.endsWith("/") ? each.startsWith(path) : each === path));
}

const showDecision = defineView<DecisionRow, StandingDecision>()(decisionSchema, {
  repository: (_row, { repository }) => repository,
  pullRequest: (_row, { url }) => url,
  standing: () => "stands" as const,
  mergedAt: (_row, { mergedAtMs }) => timeText(mergedAtMs),
});

/** Shows a decision in a list. Returns an empty array if the decision is gone. */
export function decisionView(
  reading: Reading,
  workspaceId: string,
  standing: StandingDecision,
): Shown<typeof decisionSchema>[] {
  const row = decisions.get(reading, workspaceId, standing.taskId, standing.id);
  return row === undefined ? [] : [showDecision(row, standing)];
}
