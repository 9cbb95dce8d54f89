import type { Context } from "../command/context.js";
import { findDelivery, type IntegrationOption } from "./delivery-names.js";
import { describeDelivery } from "./delivery-text.js";

/** Shows a delivery. */
export async function showDelivery(
  context: Context,
  { integration }: IntegrationOption,
  name: string | undefined,
): Promise<void> {
  const { team, delivery } = await findDelivery(context, name, integration);
  context.remember({ workspace: team.workspace.slug, team: team.key });
  context.show(delivery, () => describeDelivery(context.terminal, delivery));
}
