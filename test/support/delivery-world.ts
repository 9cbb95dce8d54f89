import { setup } from "xstate";
import type { DeliveryEntry, DeliveryRow, NewDelivery } from "../../actors/integration-work/deliveries/delivery.js";
import { deliveryActor } from "../../actors/integration-work/deliveries/delivery.machine.js";
import { deliveryIntakeRef, type TakeDeliveries } from "../../actors/integration-work/deliveries/delivery.messages.js";
import { deliveries, deliveryEntries } from "../../actors/integration-work/deliveries/delivery.table.js";
import { evaluationEffect } from "../../actors/integration-work/deliveries/delivery-evaluation.effects.js";
import { deliveryIntakeActor } from "../../actors/integration-work/intake/delivery-intake.machine.js";
import { INTEGRATION_REQUEST } from "../../actors/integrations/requests/integration-request.effects.js";
import type {
  IntegrationRequestInput,
  IntegrationRequestResult,
} from "../../actors/integrations/requests/integration-request.js";
import { resources } from "../../actors/resources/resource.table.js";
import { blobSweeperActor } from "../../actors/tables/blob-sweeper.machine.js";
import { type RaiseTask, type TaskRaised, teamMarksRef } from "../../actors/tasks/team-marks.messages.js";
import { defineActor } from "../../runtime/cells/define-actor.js";
import { reference } from "../../runtime/cells/reference.js";
import type { Delivered } from "../../runtime/turns/turn.js";
import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import { Harness } from "./harness.js";
import { INTEGRATION, integrationRows, TEAM, WORKSPACE } from "./integration-rows.js";
import { plainLane } from "./plain-effect.js";
import { putLine } from "./work.js";

/** One row for each message that raised a task, in the order in which the messages arrived. */
const raises = table<RaiseTask>("test-raise");

/** Replaces the team's marks actor. It only records raises and answers them. */
const recordingMarks = defineActor(reference<RaiseTask>(teamMarksRef.kind), {
  version: 1,
  machine: setup({ types: { events: {} as Delivered<RaiseTask> } }).createMachine({
    initial: "keeping",
    states: {
      keeping: { on: { "task.raise": { actions: ({ event: { turn, ...message } }) => record(turn, message) } } },
    },
  }),
});

function record(turn: Delivered<RaiseTask>["turn"], message: RaiseTask): void {
  const { deliveryId, key, opens, answerTo } = message;
  raises.put(turn, turn.self.partition, turn.newId("raise"), message);
  const outcome = opens === null ? "unmatched" : "opened";
  const taskId = opens === null ? null : `task_${key}`;
  const answer: TaskRaised = { type: "task.raised", deliveryId, key, outcome, taskId, reason: null };
  turn.send(answerTo, answer);
}

/** Returns the result of a lookup request. Only fields that differ from a successful answer are necessary. */
export type Lookup = (input: IntegrationRequestInput) => Partial<IntegrationRequestResult>;

const answered: IntegrationRequestResult = {
  at: "2026-01-01T00:00:00.000Z",
  tookMs: 1,
  method: "GET",
  origin: null,
  status: 200,
  success: true,
  response: null,
  captures: "{}",
  code: null,
  reason: null,
  retryAfterMs: null,
};

/** Fields of a delivery that override the default, and its body as `json`. */
type Sent = Partial<NewDelivery> & { readonly json?: unknown };

export interface DeliveryWorld {
  readonly harness: Harness;
  /** The durable rows. */
  readonly rows: Reading;
  readonly looked: IntegrationRequestInput[];
  lookup: Lookup;
  /** Sends a delivery to the intake. Does not wait for the intake's answer. */
  send(delivery?: Sent): Promise<unknown>;
  /** Sends several deliveries in one message. */
  sendTogether(deliveries: readonly Sent[]): Promise<unknown>;
  /** Lists an integration's deliveries; by default those of the integration `INTEGRATION`. */
  deliveries(integrationId?: string): DeliveryRow[];
  entries(id: string): readonly DeliveryEntry[];
  raised(): RaiseTask[];
}

/**
 * Starts a runtime over a simulated disk, with an integration that processes deliveries. Each id in `others` adds a
 * copy of that integration. Raised tasks are only recorded.
 */
export async function deliveryWorld(
  definition: Readonly<Record<string, unknown>>,
  others: readonly string[] = [],
): Promise<DeliveryWorld> {
  const looked: IntegrationRequestInput[] = [];
  const harness: Harness = new Harness({
    catalogue: {
      actors: [deliveryIntakeActor, deliveryActor, recordingMarks, blobSweeperActor],
      effects: [
        evaluationEffect({
          reading: () => harness.runtime.reading,
          scheduler: { defer: (work) => harness.world.scheduler.defer(work) },
        }),
        INTEGRATION_REQUEST.implement(plainLane(100), async (input) => {
          looked.push(input);
          return { ...answered, ...world.lookup(input) };
        }),
      ],
    },
  });
  const rows = integrationRows(definition);
  putLine(rows);
  const one = resources.get(rows, WORKSPACE, "integration", INTEGRATION);
  for (const id of others) if (one !== undefined) resources.put(rows, WORKSPACE, ["integration", id], { ...one, id });
  const store = harness.disk.open();
  const stored = store.commit(rows.range({ prefix: [] }).map(({ key, value }) => ({ op: "put", key, value }) as const));
  await harness.advance();
  await stored;
  await harness.start();
  const world: DeliveryWorld = {
    harness,
    looked,
    lookup: () => ({}),
    get rows() {
      return harness.durable;
    },
    send: (delivery = {}) => world.sendTogether([delivery]),
    sendTogether(sent) {
      const deliveries = sent.map(
        ({ json = {}, ...given }): NewDelivery => ({
          integrationId: INTEGRATION,
          teamId: TEAM,
          source: "webhook",
          block: "webhook",
          key: null,
          headers: {},
          cursor: null,
          causes: [],
          redeliveryOf: null,
          body: Buffer.from(JSON.stringify(json)),
          ...given,
        }),
      );
      const message: TakeDeliveries = { type: "deliveries.take", deliveries };
      return harness.runtime.ask(deliveryIntakeRef(WORKSPACE, deliveries[0]?.integrationId ?? ""), message);
    },
    deliveries: (integrationId = INTEGRATION) => deliveries.list(harness.durable, WORKSPACE, [integrationId]),
    entries: (id) => deliveryEntries.list(harness.durable, WORKSPACE, [id]).flat(),
    raised: () => raises.list(harness.durable, WORKSPACE),
  };
  return world;
}
