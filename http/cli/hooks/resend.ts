import type { Context } from "../command/context.js";
import { CommandError, type ExitCode, exitCodes } from "../command/exit-codes.js";
import { findFiring, findHook } from "./hook-names.js";
import { showOutcome } from "./wait-for-firing.js";

interface ResendOptions {
  readonly from?: string;
  readonly to?: string;
  readonly hook?: string;
}

/** Sends a firing again and shows its result, or starts to send all failed firings of a period again. */
export async function resend(
  context: Context,
  { from, to, hook }: ResendOptions,
  name: string | undefined,
): Promise<ExitCode | undefined> {
  if (name !== undefined) {
    if ((from ?? to ?? hook) === undefined) return await resendFiring(context, name);
    throw new CommandError("give a firing, or a period with --from, not both", exitCodes.usage);
  }
  if (from === undefined) throw new CommandError("give a firing, or a period with --from", exitCodes.usage);
  await resendPeriod(context, { from, to: to ?? new Date().toISOString(), hook });
}

async function resendFiring(context: Context, name: string): Promise<ExitCode> {
  const { team, firing } = await findFiring(context, name);
  const path = { teamId: team.id, id: firing.id };
  const { client, signal } = context;
  const started = await client.post("/api/teams/{teamId}/hook-occurrences/{id}/resend", { path, body: {}, signal });
  context.remember({ workspace: team.workspace.slug, team: team.key });
  return await showOutcome(context, team, started);
}

async function resendPeriod(
  context: Context,
  { from, to, hook: name }: { readonly from: string; readonly to: string; readonly hook: string | undefined },
): Promise<void> {
  const found = name === undefined ? null : await findHook(context, name);
  const team = found?.team ?? (await context.names.team());
  const answer = await context.client.post("/api/teams/{teamId}/hook-occurrences/resend", {
    path: { teamId: team.id },
    body: { from, to, ...(found === null ? {} : { hook: found.hook.key }) },
    signal: context.signal,
  });
  context.remember({ workspace: team.workspace.slug, team: team.key });
  const { count, isMore } = answer;
  context.show(answer, () => [
    count === 0
      ? "no firing of that period failed"
      : `resending ${isMore ? "more than " : ""}${count} failed ${count === 1 ? "firing" : "firings"}, 20 per second`,
  ]);
}
