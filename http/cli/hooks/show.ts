import type { CommonOptions, Context } from "../command/context.js";
import { describeFiring } from "./firing-text.js";
import { findFiring, findHook, isOccurrence } from "./hook-names.js";
import { describeHook } from "./list.js";

/** Shows a firing with every attempt, or a hook. */
export async function showHookOrFiring(
  context: Context,
  _options: CommonOptions,
  name: string | undefined,
): Promise<void> {
  const { terminal } = context;
  if (name !== undefined && !isOccurrence(name)) {
    const { hook, team } = await findHook(context, name);
    context.remember({ workspace: team.workspace.slug, team: team.key });
    return context.show(hook, () => describeHook(terminal, hook));
  }
  const { firing, team } = await findFiring(context, name);
  context.remember({ workspace: team.workspace.slug, team: team.key });
  context.show(firing, () => describeFiring(terminal, firing));
}
