import { invites } from "./access/invites/invite.table.js";
import { archives } from "./archives/archive.table.js";
import { replayChecks } from "./checks/check.table.js";
import { replayCheckResults } from "./checks/check-result.table.js";
import { codeHostConnections } from "./code-host/connection.table.js";
import { configPullRequests } from "./config-pull-requests/config-pull-request.table.js";
import { standingDecisions } from "./decisions/decision.table.js";
import { hookOccurrences } from "./hooks/hook-occurrence.table.js";
import { deliveries } from "./integration-work/deliveries/delivery.table.js";
import { connections } from "./integrations/connection.table.js";
import { polls } from "./integrations/poll.table.js";
import { heardReverts } from "./pull-requests/heard-revert.table.js";
import { pullRequests } from "./pull-requests/pull-request.table.js";
import { replayCopies } from "./replays/copies/replay-copy.table.js";
import { replayPairs } from "./replays/judging/replay-pair.table.js";
import { replayRechecks } from "./replays/judging/replay-recheck.table.js";
import { replayVerdicts } from "./replays/judging/replay-verdict.table.js";
import { replays } from "./replays/replay/replay.table.js";
import { replayInputs } from "./replays/replay/replay-input.table.js";
import { replayEntries, replaySets } from "./replays/sets/replay-set.table.js";
import type { Kind } from "./resources/kind.js";
import { resourceDependents } from "./resources/resource-indexes.table.js";
import { pullRequestFacts } from "./run-facts/pull-request-fact.table.js";
import { reviewFacts } from "./run-facts/review-fact.table.js";
import { runFacts } from "./run-facts/run-fact.table.js";
import { approvals } from "./runs/approval.table.js";
import { runCheckouts, runSteps, runs } from "./runs/run.table.js";
import { runInputs } from "./runs/run-input.table.js";
import { searchCandidateInputs, searchCandidates } from "./searches/candidates/search-candidate.table.js";
import { searchIterations } from "./searches/iterations/search-iteration.table.js";
import { searches, searchInputs } from "./searches/search/search.table.js";
import type { DependentSource } from "./tables/dependents.js";
import { taskAttachments, taskCheckouts, tasks } from "./tasks/task.table.js";
import { taskMarks, taskRaises } from "./tasks/team-marks.table.js";
import { toolCalls } from "./tool-calls/tool-call.table.js";
import { members } from "./workspaces/member.table.js";

/** Lists all tables with declared indexes or derived rows. The doctor compares them. */
export function createDependentSources(kinds: readonly Kind[]): readonly DependentSource[] {
  return [
    resourceDependents(kinds),
    members,
    invites,
    connections,
    polls,
    deliveries,
    codeHostConnections,
    runs,
    runCheckouts,
    runSteps,
    runInputs,
    runFacts,
    pullRequests,
    heardReverts,
    pullRequestFacts,
    reviewFacts,
    approvals,
    toolCalls,
    tasks,
    taskCheckouts,
    taskAttachments,
    taskMarks,
    taskRaises,
    standingDecisions,
    hookOccurrences,
    replaySets,
    replayEntries,
    replays,
    replayInputs,
    replayCopies,
    replayVerdicts,
    replayPairs,
    replayRechecks,
    replayChecks,
    replayCheckResults,
    searches,
    searchInputs,
    searchIterations,
    searchCandidates,
    searchCandidateInputs,
    configPullRequests,
    archives,
  ];
}
