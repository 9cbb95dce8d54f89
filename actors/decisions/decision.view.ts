import { z } from "zod";
import type { Reading } from "../../storage/store.js";
import type { Cursor, Slice } from "../tables/page-source.js";
import { decisionKinds } from "./decision.js";
import { decisions, type StandingDecision, standingDecisions } from "./decision.table.js";

/** A standing decision in a list. */
export const decisionSchema = z
  .strictObject({
    id: z.string(),
    taskId: z.string(),
    teamId: z.string(),
    runId: z.string().describe("The run that it was made in."),
    repository: z.string().describe("`owner/name`, where the task's pull request was merged."),
    pullRequest: z.string().describe("The address of the pull request."),
    kind: z.enum(decisionKinds),
    title: z.string(),
    why: z.string(),
    alternatives: z.array(z.string()),
    paths: z.array(z.string()).describe("The files that it bears on."),
    steps: z.array(z.int()).describe("The steps of the run that it was made at."),
    disputes: z.array(z.strictObject({ file: z.string(), userId: z.string(), reason: z.string() })),
    standing: z.literal("stands"),
    draftedAt: z.iso.datetime(),
    mergedAt: z.iso.datetime(),
  })
  .meta({ title: "decision" });

type DecisionView = z.output<typeof decisionSchema>;

/** The filters of a list. A decision must match all given filters. */
export interface DecisionFilter {
  readonly repository: string | undefined;
  /** A file; or with a trailing `/`, a folder with everything under it. */
  readonly path: string | undefined;
  /** Merged at this time or later. */
  readonly sinceMs: number | undefined;
  /** Merged before this time. */
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
  /** Only decisions after this position in the list, which were merged earlier. */
  readonly after: DecisionPlace | null;
  readonly limit: number;
  /** Where the previous slice stopped. */
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
      // A bound on the time alone excludes all decisions that were merged at that time.
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

/** Shows a decision in a list; empty if it is gone. */
export function decisionView(
  reading: Reading,
  workspaceId: string,
  { id, mergedAtMs, taskId, repository, url }: StandingDecision,
): DecisionView[] {
  const row = decisions.get(reading, workspaceId, taskId, id);
  if (row === undefined) return [];
  const { kind, title, why, alternatives, paths, steps, disputes, runId, teamId, draftedAt } = row;
  return [
    {
      id,
      taskId,
      teamId,
      runId,
      repository,
      pullRequest: url,
      kind,
      title,
      why,
      alternatives: [...alternatives],
      paths: [...paths],
      steps: [...steps],
      disputes: [...disputes],
      standing: "stands",
      draftedAt,
      mergedAt: new Date(mergedAtMs).toISOString(),
    },
  ];
}
