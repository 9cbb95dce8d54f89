import type { Gate, Subscriber } from "../runtime/cells/actor-type.js";
import { workspaceClosingSubscriber } from "./code-host/workspace-closing.js";
import { pullRequestsLeavingSubscriber } from "./config-pull-requests/pull-requests-leaving.js";
import { pullRequestOverSubscriber } from "./decisions/pull-request-over.js";
import { secretRotationSubscriber } from "./hooks/delivery/secret-rotation.machine.js";
import { afterEventSubscriber, beforeEventGate } from "./hooks/matching/fire-hooks.js";
import { bindingSubscriber } from "./integration-work/actions/bindings.js";
import { intakeSubscriber } from "./integration-work/intake/intake-subscriber.js";
import { pollSubscriber } from "./integration-work/polls/poll-subscriber.js";
import { scheduleSubscriber } from "./integration-work/schedules/schedule-subscriber.js";
import { connectionSubscriber } from "./integrations/connection-subscriber.js";
import { setsDissolvingSubscriber } from "./replays/sets/sets-dissolving.js";
import { poolChangesSubscriber } from "./runners/pool-changes.js";
import { searchesLeavingSubscriber } from "./searches/search/searches-leaving.js";
import { memberLeavingSubscriber } from "./tasks/member-leaving.js";
import { taskWithdrawalSubscriber } from "./tasks/workspace-closing.js";
import { approverLeavingSubscriber } from "./tool-calls/approver-leaving.js";
import { toolChangesSubscriber } from "./tool-calls/tool-changes.js";
import { retentionSubscriber } from "./workspaces/retention-subscriber.js";

/** All subscribers to facts. This list and {@link gates} define all wiring between areas. */
export const subscribers: readonly Subscriber[] = [
  poolChangesSubscriber,
  taskWithdrawalSubscriber,
  memberLeavingSubscriber,
  approverLeavingSubscriber,
  toolChangesSubscriber,
  workspaceClosingSubscriber,
  afterEventSubscriber,
  pullRequestOverSubscriber,
  secretRotationSubscriber,
  connectionSubscriber,
  intakeSubscriber,
  bindingSubscriber,
  pollSubscriber,
  scheduleSubscriber,
  retentionSubscriber,
  setsDissolvingSubscriber,
  searchesLeavingSubscriber,
  pullRequestsLeavingSubscriber,
];

/** All gates. */
export const gates: readonly Gate[] = [beforeEventGate];
