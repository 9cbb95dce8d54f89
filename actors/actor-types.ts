import type { ActorType } from "../runtime/cells/actor-type.js";
import { accountActor } from "./access/accounts/account.machine.js";
import { inviteActor } from "./access/invites/invite.machine.js";
import { oauthStateActor } from "./access/oauth-states/oauth-state.machine.js";
import { tokenMinting } from "./access/tokens/token-exchange.js";
import { trustActor } from "./access/trusts/trust.machine.js";
import { refuseInTurn } from "./access/visibility/write-permission.js";
import { archiveActor } from "./archives/archive.machine.js";
import { type ArchiveLimits, defaultArchiveLimits } from "./archives/classify-archive.js";
import { replayCheckActor } from "./checks/check.machine.js";
import { codeHostConnectionActor } from "./code-host/connection.machine.js";
import { installationClaimsActor } from "./code-host/installation-claims.machine.js";
import { configPullRequestActor } from "./config-pull-requests/config-pull-request.machine.js";
import { decisionSetActor } from "./decisions/decision-set.machine.js";
import { hookRotationActor } from "./hooks/delivery/secret-rotation.machine.js";
import { signingKeysActor } from "./hooks/delivery/signing-keys.machine.js";
import { hookOccurrenceActor } from "./hooks/hook-occurrence.machine.js";
import { hookMatcherActor } from "./hooks/matching/hook-matcher.machine.js";
import { hookResendActor } from "./hooks/resend.machine.js";
import { actionRunActor } from "./integration-work/actions/action-run.machine.js";
import { deliveryActor } from "./integration-work/deliveries/delivery.machine.js";
import { deliveryIntakeActor } from "./integration-work/intake/delivery-intake.machine.js";
import { pollActor } from "./integration-work/polls/poll.machine.js";
import { scheduleActor } from "./integration-work/schedules/schedule.machine.js";
import { integrationConnectionActor } from "./integrations/connection.machine.js";
import { pullRequestActor } from "./pull-requests/pull-request.machine.js";
import { pullRequestLogActor } from "./pull-requests/pull-request-log.machine.js";
import { judgesNothing, type ReplayJudging } from "./replays/judging/model-terms.js";
import { replayActor } from "./replays/replay/replay.machine.js";
import { replaySetsActor } from "./replays/sets/replay-sets.machine.js";
import { hashReservationsActor } from "./resources/hash-reservations.machine.js";
import type { Kind } from "./resources/kind.js";
import { retainedTables } from "./retained-tables.js";
import { runOwners } from "./run-owners.js";
import { dispatcherActor } from "./runners/dispatcher.machine.js";
import { poolMinting } from "./runners/pool-exchange.js";
import { runnerActor } from "./runners/runner.machine.js";
import { runActor } from "./runs/run.machine.js";
import { searchIterationActor } from "./searches/iterations/search-iteration.machine.js";
import { searchActor } from "./searches/search/search.machine.js";
import { blobSweeperActor } from "./tables/blob-sweeper.machine.js";
import { defaultRetention, type RetentionPeriods } from "./tables/retention.js";
import { retentionSweeperActor } from "./tables/retention-sweeper.machine.js";
import { taskActor } from "./tasks/task.machine.js";
import { taskAttachmentsActor } from "./tasks/task-attachments.machine.js";
import { teamMarksActor } from "./tasks/team-marks.machine.js";
import { toolCallActor } from "./tool-calls/tool-call.machine.js";
import { sealingKeyActor } from "./workspaces/sealing-key.machine.js";
import { slugClaimsActor } from "./workspaces/slug-claims.machine.js";
import { workspaceActor } from "./workspaces/workspace.machine.js";

/** Settings of the deployment that some machines depend on. */
export interface ActorSettings {
  /** How long to store ended work. */
  readonly retention?: RetentionPeriods;
  /** The limits on stored commit packs. */
  readonly archives?: ArchiveLimits;
  /** How to judge replays. By default they are not judged. */
  readonly judging?: ReplayJudging;
}

/** Creates all actor types. `kinds` are the resource kinds of workspaces. */
export function createActorTypes(
  kinds: readonly Kind[],
  { retention = defaultRetention, archives = defaultArchiveLimits, judging = judgesNothing }: ActorSettings = {},
): readonly ActorType[] {
  return [
    workspaceActor(kinds, refuseInTurn),
    slugClaimsActor,
    hashReservationsActor,
    accountActor,
    inviteActor,
    oauthStateActor,
    trustActor(tokenMinting),
    trustActor(poolMinting),
    codeHostConnectionActor,
    installationClaimsActor,
    integrationConnectionActor,
    deliveryIntakeActor,
    deliveryActor,
    actionRunActor,
    pollActor,
    scheduleActor,
    dispatcherActor,
    runnerActor,
    blobSweeperActor,
    retentionSweeperActor(retainedTables, retention),
    taskActor,
    taskAttachmentsActor,
    teamMarksActor,
    runActor(runOwners),
    toolCallActor(runOwners),
    pullRequestActor(runOwners),
    pullRequestLogActor,
    decisionSetActor,
    archiveActor(archives),
    replaySetsActor(judging),
    replayActor(judging.terms),
    searchActor(judging),
    searchIterationActor(judging),
    replayCheckActor(judging),
    configPullRequestActor,
    hookOccurrenceActor,
    hookMatcherActor,
    hookResendActor,
    hookRotationActor,
    signingKeysActor,
    sealingKeyActor,
  ];
}
