import { z } from "zod";
import type { Reading } from "../../storage/store.js";
import type { TablePage } from "../../storage/table.js";
import { decisionKinds } from "./decision.js";
import {
  decisions,
  type StandingDecision,
  standingDecisions,
  standingDecisionsByRepository,
} from "./decision.table.js";

/** A decision that stands, as a list shows it. */
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

/** What a list is narrowed by; a decision has to fit all that is given. */
export interface DecisionFilter {
  readonly repository: string | undefined;
  /** A file, or with `/` at its end everything under that folder. */
  readonly path: string | undefined;
  /** Merged then or later. */
  readonly sinceMs: number | undefined;
  /** Merged before. */
  readonly untilMs: number | undefined;
  /** Whether the reader may know how the team's work turned out. */
  readonly seesTeam: (teamId: string) => boolean;
}

/** A decision's place in the list. */
export interface DecisionCursor {
  readonly mergedAtMs: number;
  readonly id: string;
}

export interface DecisionPage {
  /** Only decisions after this place, which were merged before. */
  readonly after: DecisionCursor | null;
  readonly limit: number;
}

/** Decisions looked at for one page: of those that a list is narrowed to there may be few among many. */
const SCAN_LIMIT = 2_000;

/** The decisions that stand, the latest merged first, and where the next page goes on; null when there is none. */
export function listDecisions(
  reading: Reading,
  workspaceId: string,
  filter: DecisionFilter,
  { after, limit }: DecisionPage,
): { readonly items: readonly DecisionView[]; readonly next: DecisionCursor | null } {
  const items: DecisionView[] = [];
  let last: DecisionCursor | null = after;
  for (let looks = 0; looks < SCAN_LIMIT && items.length < limit; ) {
    const slice = listStandingAfter(reading, workspaceId, filter, { after: last, limit });
    for (const { place, standing } of slice) {
      looks += 1;
      last = place;
      if (fits(standing, filter)) items.push(...toDecisionView(reading, workspaceId, place, standing));
      if (items.length === limit) break;
    }
    if (slice.length < limit && items.length < limit) return { items, next: null };
  }
  return { items, next: last };
}

interface DecisionEntry {
  readonly place: DecisionCursor;
  readonly standing: StandingDecision;
}

function listStandingAfter(
  reading: Reading,
  workspaceId: string,
  filter: DecisionFilter,
  page: DecisionPage,
): DecisionEntry[] {
  const { repository, sinceMs, untilMs } = filter;
  const under = repository === undefined ? [] : [repository];
  const rows = repository === undefined ? standingDecisions : standingDecisionsByRepository;
  const until = page.after === null ? untilMs : undefined;
  const bounds: TablePage = {
    ...{ reverse: true, limit: page.limit },
    // A time that is passed over is passed over with all that were merged at it.
    ...(sinceMs === undefined ? {} : { after: [...under, sinceMs - 1] }),
    ...(until === undefined ? {} : { before: [...under, until] }),
    ...(page.after === null ? {} : { before: [...under, page.after.mergedAtMs, page.after.id] }),
  };
  return rows.entries(reading, workspaceId, under, bounds).map(({ key, value }) => ({
    place: { mergedAtMs: Number(key.at(-2)), id: String(key.at(-1)) },
    standing: value,
  }));
}

function fits({ teamId, paths }: StandingDecision, { path, seesTeam }: DecisionFilter): boolean {
  if (!seesTeam(teamId)) return false;
  if (path === undefined) return true;
  return paths.some((each) => (path.endsWith("/") ? each.startsWith(path) : each === path));
}

function toDecisionView(
  reading: Reading,
  workspaceId: string,
  { mergedAtMs, id }: DecisionCursor,
  { taskId, repository, url }: StandingDecision,
): DecisionView[] {
  const row = decisions.get(reading, workspaceId, taskId, id);
  if (row === undefined) return [];
  const { kind, title, why, alternatives, paths, steps, disputes, runId, teamId, draftedAt } = row;
  return [
    {
      ...{ id, taskId, teamId, runId, repository, pullRequest: url, kind, title, why },
      ...{ alternatives: [...alternatives], paths: [...paths], steps: [...steps], disputes: [...disputes] },
      ...{ standing: "stands", draftedAt, mergedAt: new Date(mergedAtMs).toISOString() },
    },
  ];
}
