import { removeTable } from "../../storage/migration-walks.js";
import { defineArea } from "../area.js";
import { type DeliveryOptions, deliveryEffect } from "./delivery/delivery.effects.js";
import { hookRotationActor, previousSecrets, secretRotationSubscriber } from "./delivery/secret-rotation.machine.js";
import { published, signingKeysActor } from "./delivery/signing-keys.machine.js";
import { hookKind } from "./hook.kind.js";
import { hookHealthWalks } from "./hook-health.migration.js";
import { hookHealth } from "./hook-health.table.js";
import { hookOccurrenceActor } from "./hook-occurrence.machine.js";
import { attemptsOwned, hookOccurrenceRetention, latestPruned } from "./hook-occurrence.retention.js";
import { endedHookOccurrences } from "./hook-occurrence.table.js";
import { hookOccurrenceTopicView } from "./hook-occurrence-topic.view.js";
import { changesFiredRetention, latestCaused } from "./loop-guard.js";
import { afterEventSubscriber, beforeEventGate } from "./matching/fire-hooks.js";
import { hookMatcherActor, waiting } from "./matching/hook-matcher.machine.js";
import { hookResendActor } from "./resend.machine.js";

interface HookParts extends Pick<DeliveryOptions, "reading" | "newId" | "baseUrl" | "clock" | "sealer"> {
  readonly hooks: Pick<DeliveryOptions, "outbound" | "network" | "tokens" | "rotates" | "traceHeaders">;
}

/** Hooks, their occurrences and the requests to their receivers. */
export const hooksArea = defineArea({
  name: "hooks",
  kinds: (deployment: Parameters<typeof hookKind>[0]) => [hookKind(deployment)],
  actors: () => [hookOccurrenceActor, hookMatcherActor, hookResendActor, hookRotationActor, signingKeysActor],
  tables: [
    hookOccurrenceRetention,
    attemptsOwned,
    endedHookOccurrences,
    latestCaused,
    latestPruned,
    changesFiredRetention,
    waiting,
    published,
    previousSecrets,
    hookHealth,
  ],
  subscribers: [afterEventSubscriber, secretRotationSubscriber],
  gates: [beforeEventGate],
  effects: ({ reading, newId, baseUrl, clock, sealer, hooks }: HookParts) => [
    deliveryEffect({ reading, newId, baseUrl, clock, sealer, ...hooks }),
  ],
  topics: () => ({ "hook-occurrence": hookOccurrenceTopicView }),
  migrations: [
    {
      to: 4,
      title: "firings over all workspaces are not counted on disk",
      walks: [removeTable("hook-given-up", { of: "service" })],
    },
    { to: 18, title: "firings are counted by hook, hour and result", walks: hookHealthWalks },
  ],
});
