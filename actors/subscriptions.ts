import type { Gate, Subscriber } from "../runtime/actor-type.js";
import { workspaceClosingSubscriber } from "./code-host/workspace-closing.js";
import { secretRotationSubscriber } from "./hooks/delivery/secret-rotation.machine.js";
import { afterEventSubscriber, beforeEventGate } from "./hooks/matching/fire-hooks.js";
import { connectionSubscriber } from "./integrations/connection-subscriber.js";
import { placesAfterPoolChanges } from "./runners/pool-changes.js";
import { unassignsWhoLeft } from "./tasks/member-leaving.js";
import { withdrawsWork } from "./tasks/workspace-closing.js";

/** Who hears which fact: the whole wiring between areas, with {@link gates}, stands on this page. */
export const subscribers: readonly Subscriber[] = [
  placesAfterPoolChanges,
  withdrawsWork,
  unassignsWhoLeft,
  workspaceClosingSubscriber,
  afterEventSubscriber,
  secretRotationSubscriber,
  connectionSubscriber,
];

/** Who gates which step. */
export const gates: readonly Gate[] = [beforeEventGate];
