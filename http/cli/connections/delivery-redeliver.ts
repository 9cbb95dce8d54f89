import type { Context } from "../command/context.js";
import { CommandError, type ExitCode, exitCodes } from "../command/exit-codes.js";
import { openTopics } from "../command/topics.js";
import {
  type Delivery,
  findDelivery,
  findIntegration,
  type IntegrationOption,
  type NamedIntegration,
  readDelivery,
} from "./delivery-names.js";
import { type endedStates, isUnsuccessful } from "./delivery-states.js";
import { describeDelivery } from "./delivery-text.js";

interface RedeliverOptions extends IntegrationOption {
  readonly from?: string;
  readonly to?: string;
  readonly state?: readonly (typeof endedStates)[number][];
}

/** Redelivers one delivery and shows its result, or starts to redeliver the deliveries of a period. */
export async function redeliver(
  context: Context,
  { from, to, state, integration }: RedeliverOptions,
  name: string | undefined,
): Promise<ExitCode | undefined> {
  if (name !== undefined) {
    if ((from ?? to ?? state) === undefined) return await redeliverOne(context, name, integration);
    throw new CommandError("give a delivery, or a period with --from, not both", exitCodes.usage);
  }
  if (from === undefined) throw new CommandError("give a delivery, or a period with --from", exitCodes.usage);
  const found = await findIntegration(context, integration);
  const answer = await context.client.post("/api/integrations/{integrationId}/deliveries/redeliver", {
    path: { integrationId: found.integration.id },
    body: { from, to: to ?? new Date().toISOString(), ...(state === undefined ? {} : { states: state }) },
    signal: context.signal,
  });
  const { count, isMore } = answer;
  context.show(answer, () => [
    count === 0
      ? `nothing to reprocess: the period has no ${toList(state)} delivery with a stored body`
      : `reprocessing ${isMore ? "more than " : ""}${count} ${count === 1 ? "delivery" : "deliveries"}, 20 per second`,
  ]);
}

function toList(states: readonly string[] = ["failed", "unrouted"]): string {
  return states.join(" or ");
}

async function redeliverOne(context: Context, name: string, integrationName: string | undefined): Promise<ExitCode> {
  const { client, signal, terminal } = context;
  const found = await findDelivery(context, name, integrationName);
  const started = await client.post("/api/integrations/{integrationId}/deliveries/{deliveryId}/redeliver", {
    path: { integrationId: found.integration.id, deliveryId: found.delivery.id },
    body: {},
    signal,
  });
  const delivery = await waitForDelivery(context, found, started);
  context.show(delivery, () => describeDelivery(terminal, delivery));
  return isUnsuccessful(delivery.state) ? exitCodes.failed : exitCodes.done;
}

/** Returns the delivery once it has ended, or once it waits for the next attempt of its lookup. */
async function waitForDelivery(
  context: Context,
  { team, integration }: NamedIntegration,
  started: Delivery,
): Promise<Delivery> {
  const topics = openTopics(context);
  try {
    topics.subscribe(`team/${team.id}`);
    for (;;) {
      const { kind, data } = await topics.next();
      const { type, id } = data as { readonly type?: string; readonly id?: string };
      if (kind === "change" && (type !== "delivery" || id !== started.id)) continue;
      const delivery = await readDelivery(context, integration, started.id);
      if (delivery === null) throw new CommandError(`the delivery ${started.id} was removed`);
      if (kind === "error" || (delivery.state !== "accepted" && delivery.state !== "working")) return delivery;
    }
  } finally {
    topics.close();
  }
}
