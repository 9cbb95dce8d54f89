import type { CommonOptions, Context } from "../command/context.js";
import type { ExitCode } from "../command/exit-codes.js";
import { findHook } from "./hook-names.js";
import { showOutcome } from "./wait-for-firing.js";

/** Sends a sample event to a hook once, and shows how its receiver answered. */
export async function testHook(context: Context, _options: CommonOptions, name: string | undefined): Promise<ExitCode> {
  const { team, hook } = await findHook(context, name);
  const path = { hookId: hook.id };
  const started = await context.client.post("/api/hooks/{hookId}/test", { path, body: {}, signal: context.signal });
  context.remember({ workspace: team.workspace.slug, team: team.key });
  return await showOutcome(context, team, started);
}
