import type { Effect } from "../../../runtime/cells/actor-type.js";
import type { Scheduler } from "../../../runtime/clock.js";
import { effect } from "../../../runtime/effects/effect-type.js";
import type { LaneLimits } from "../../../runtime/effects/lane.js";
import type { Reading } from "../../../storage/store.js";
import { readJson } from "../../exact-json.js";
import type { Json } from "../../expressions/values.js";
import type { IntegrationFields } from "../../integrations/definition.js";
import { ReadBodies } from "../../integrations/read-bodies.js";
import { findResource, isWorkspaceOpen } from "../../resources/resource.table.js";
import { ReceivedDelivery } from "../intake/received-delivery.js";
import { deliveries } from "./delivery.table.js";
import { findBody } from "./delivery-body.table.js";
import { evaluateDelivery } from "./evaluate-delivery.js";
import type { EntryPlace, Evaluated } from "./evaluated-delivery.js";
import { toEventPlaces } from "./event-places.js";

/** Evaluates entries of a delivery. The effect only reads, so it can run again. */
export const EVALUATION = effect<EvaluationInput, Evaluated>("delivery-evaluation");

/**
 * The input of an evaluation. The effect reads all other data when it runs, so it evaluates entries by the definition
 * of that time.
 */
export interface EvaluationInput {
  readonly integrationId: string;
  readonly deliveryId: string;
  readonly from: EntryPlace;
  /** The captures of the lookup at `from`, as JSON text; null if there was no lookup. */
  readonly captures: string | null;
  readonly units: number;
  readonly entriesLeft: number;
}

/**
 * Limits concurrent evaluations per workspace and per integration, because an evaluation uses processor time of this
 * process. So an expensive delivery mainly delays other deliveries of its own integration.
 */
const evaluationLane: LaneLimits = { name: "deliveries", places: 8, kept: 6, perClient: 2, perTarget: 1 };

export interface EvaluationOptions {
  readonly reading: () => Reading;
  /** Runs other work between two slices. */
  readonly scheduler: Scheduler;
  /** The cache of parsed bodies of deliveries in progress. By default, the effect creates its own cache. */
  readonly bodies?: ReadBodies;
}

export function evaluationEffect({ reading, scheduler, bodies = new ReadBodies() }: EvaluationOptions): Effect {
  return EVALUATION.implement(
    evaluationLane,
    async (input, { owner: { partition }, signal }) => {
      const slices = begin({ reading: reading(), bodies, workspaceId: partition }, input);
      for (;;) {
        const slice = slices.next();
        if (slice.done === true) return slice.value;
        await new Promise<void>((resolve) => scheduler.defer(resolve));
        if (signal.aborted) throw new Error("the evaluation was stopped");
      }
    },
    ({ integrationId }) => integrationId,
  );
}

const gone: Evaluated = { kind: "over", state: "failed", reason: "definition-gone" };

interface EvaluationScope {
  readonly reading: Reading;
  readonly bodies: ReadBodies;
  readonly workspaceId: string;
}

function* begin(
  { reading, bodies, workspaceId }: EvaluationScope,
  { integrationId, deliveryId, from, captures, units, entriesLeft }: EvaluationInput,
): Generator<void, Evaluated> {
  const row = deliveries.get(reading, workspaceId, integrationId, deliveryId);
  const integration = findResource<IntegrationFields>(reading, workspaceId, "integration", integrationId);
  const isOpen = isWorkspaceOpen(reading, workspaceId);
  const bytes = row === undefined ? undefined : findBody(reading, workspaceId, row);
  if (row === undefined || integration === undefined || bytes === undefined || !isOpen) return gone;
  const digest = row.body?.digest ?? row.id;
  const evaluated = yield* evaluateDelivery({
    fields: integration.fields,
    block: row.block,
    from,
    units,
    entriesLeft,
    received: new ReceivedDelivery(bytes, new Map(Object.entries(row.headers)), row.cursor, (bytes, contentType) =>
      bodies.read({ workspaceId, digest, bytes, contentType }),
    ),
    places: toEventPlaces(reading, integration),
    captures: captures === null ? null : (readJson(captures) as Readonly<Record<string, Json>>),
  });
  const isOver = evaluated.kind === "over" || (evaluated.next === null && evaluated.lookup === null);
  if (isOver) bodies.forget({ workspaceId, digest, contentType: row.headers["content-type"] });
  return evaluated;
}
