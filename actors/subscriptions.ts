import type { Gate, Subscriber } from "../runtime/actor-type.js";
import { givesInstallationsFree } from "./code-host/workspace-closing.js";
import { firesAfterHooks, keepsBeforeHooks } from "./hooks/firing.js";
import { watchesRotations } from "./hooks/secret-rotation.machine.js";
import { watchesConnections } from "./integrations/connection-watch.js";
import { placesAfterPoolChanges } from "./runners/pool-changes.js";
import { unassignsWhoLeft } from "./tasks/member-leaving.js";
import { withdrawsWork } from "./tasks/workspace-closing.js";

/** Who hears which fact: the whole wiring between areas, with {@link gates}, stands on this page. */
export const subscribers: readonly Subscriber[] = [
  placesAfterPoolChanges,
  withdrawsWork,
  unassignsWhoLeft,
  givesInstallationsFree,
  firesAfterHooks,
  watchesRotations,
  watchesConnections,
];

/** Who gates which step. */
export const gates: readonly Gate[] = [keepsBeforeHooks];
