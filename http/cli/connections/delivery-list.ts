import type { Schema } from "../../client/entry.js";
import type { Context } from "../command/context.js";
import { type LimitOption, takeItems, toPageSize } from "../command/list-limit.js";
import { toLine } from "../command/printable.js";
import { toTable } from "../command/table.js";
import { findIntegration, toKey } from "./delivery-names.js";
import type { DeliveryState } from "./delivery-states.js";
import { toTimeText } from "./delivery-text.js";

interface ListOptions extends LimitOption {
  readonly state?: DeliveryState;
}

/** Lists the deliveries of an integration, newest first, and says how many were refused. */
export async function listDeliveries(
  context: Context,
  { state, limit }: ListOptions,
  name: string | undefined,
): Promise<void> {
  const { terminal } = context;
  const { team, integration } = await findIntegration(context, name);
  const reader = new DeliveryReader(context, integration.id);
  const list = await takeItems(
    reader.read({ limit: toPageSize(limit), ...(state === undefined ? {} : { state }) }),
    limit,
  );
  context.remember({ workspace: team.workspace.slug, team: team.key });
  const { items, hasMore } = list;
  context.show({ ...list, refused: reader.refused }, () =>
    items.length === 0
      ? []
      : toTable(
          terminal,
          [
            { title: "delivery", of: ({ id }) => id },
            { title: "received", of: ({ receivedAt }) => toTimeText(receivedAt) },
            { title: "source", of: ({ source }) => source },
            { title: "state", of: (delivery) => delivery.state },
            { title: "key", of: ({ key }) => key },
            { title: "why", of: ({ reason, keyProblem }) => reason ?? keyProblem },
          ],
          items,
        ),
  );
  if (items.length === 0) terminal.note(`the integration ${toKey(integration)} has no such deliveries`);
  if (hasMore) terminal.note(`there are more: give --limit ${items.length * 5}`);
  const [latest] = reader.refused?.latest ?? [];
  if (latest === undefined) return;
  const { count } = reader.refused ?? { count: 0 };
  const why = latest.reason === null ? "" : `, ${latest.reason}`;
  terminal.note(
    toLine(
      `${count} ${count === 1 ? "delivery was" : "deliveries were"} refused, the last at ${toTimeText(latest.at)}${why}`,
    ),
  );
}

/** Reads the pages of the list. The first one also counts the refused deliveries. */
class DeliveryReader {
  readonly #context: Context;
  readonly #integrationId: string;
  refused: Schema<"RefusedDeliveries"> | null = null;

  constructor(context: Context, integrationId: string) {
    this.#context = context;
    this.#integrationId = integrationId;
  }

  async *read(query: {
    readonly limit: number;
    readonly state?: DeliveryState;
  }): AsyncGenerator<Schema<"DeliveryItem">, void, undefined> {
    const { client, signal } = this.#context;
    for (let before: string | null = ""; before !== null; ) {
      const page: {
        items: readonly Schema<"DeliveryItem">[];
        next: string | null;
        refused: Schema<"RefusedDeliveries">;
      } = await client.get("/api/integrations/{integrationId}/deliveries", {
        path: { integrationId: this.#integrationId },
        query: before === "" ? query : { ...query, before },
        signal,
      });
      this.refused ??= page.refused;
      yield* page.items;
      before = page.next;
    }
  }
}
