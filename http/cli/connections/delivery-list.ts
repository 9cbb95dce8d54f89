import { listAll } from "../../client/entry.js";
import type { Context } from "../command/context.js";
import { type LimitOption, showList, takeItems, toPageSize } from "../command/list-limit.js";
import { toLine } from "../command/printable.js";
import { toTable } from "../command/table.js";
import { toTimeText } from "../command/time-text.js";
import { findIntegration, toKey } from "./delivery-names.js";
import type { DeliveryState } from "./delivery-states.js";

interface ListOptions extends LimitOption {
  readonly state?: DeliveryState;
}

const DELIVERIES = "/api/integrations/{integrationId}/deliveries";

/** Lists the deliveries of an integration, newest first, and prints how many were rejected. */
export async function listDeliveries(
  context: Context,
  { state, limit }: ListOptions,
  name: string | undefined,
): Promise<void> {
  const { client, signal, terminal } = context;
  const { team, integration } = await findIntegration(context, name);
  const path = { integrationId: integration.id };
  const query = { limit: toPageSize(limit), ...(state === undefined ? {} : { state }) };
  const list = await takeItems(listAll(client, DELIVERIES, "before", { path, query, signal }), limit);
  const { refused } = await client.get(DELIVERIES, { path, query: { limit: 1 }, signal });
  context.remember({ workspace: team.workspace.slug, team: team.key });
  const shown = { ...list, refused };
  showList(context, shown, {
    none: `the integration ${toKey(integration)} has no ${state === undefined ? "" : "matching "}deliveries`,
    toLines: () =>
      toTable(
        terminal,
        [
          { title: "delivery", of: ({ id }) => id },
          { title: "received", of: ({ receivedAt }) => toTimeText(terminal, receivedAt) },
          { title: "source", of: ({ source }) => source, isMinor: true },
          { title: "state", of: (delivery) => delivery.state },
          { title: "key", of: ({ key }) => key, isFlexible: true },
          { title: "why", of: ({ reason, keyProblem }) => reason ?? keyProblem, isFlexible: true },
        ],
        list.items,
      ),
  });
  const { count, latest } = refused;
  const [last] = latest;
  if (last === undefined) return;
  const why = last.reason === null ? "" : `, ${last.reason}`;
  const were = count === 1 ? "delivery was" : "deliveries were";
  terminal.note(toLine(`${count} ${were} rejected, the last: ${toTimeText(terminal, last.at)}${why}`));
}
