import type { Context } from "../command/context.js";
import { CommandError, type ExitCode, exitCodes } from "../command/exit-codes.js";
import type { NamedTeam } from "../command/names.js";
import { openTopics } from "../command/topics.js";
import { describeFiring } from "./firing-text.js";
import { type Firing, readFiring } from "./hook-names.js";

/**
 * Waits for the result of a firing that was just started, and shows it. Returns the exit code, which is `failed` if the
 * firing failed or waits for a retry.
 */
export async function showOutcome(context: Context, team: NamedTeam, started: Firing): Promise<ExitCode> {
  const firing = await waitForFiring(context, team, started);
  context.show(firing, () => describeFiring(context.terminal, firing));
  return firing.state === "delivered" || firing.state === "refused" ? exitCodes.done : exitCodes.failed;
}

async function waitForFiring(context: Context, team: NamedTeam, started: Firing): Promise<Firing> {
  if (started.state === "attempting") await waitForState(context, started.id);
  const firing = await readFiring(context, team, started.id);
  if (firing === null) throw new CommandError(`the firing ${started.id} was removed`);
  return firing;
}

/** Resolves when the firing has ended or waits for a retry. */
async function waitForState(context: Context, id: string): Promise<void> {
  const topics = openTopics(context);
  try {
    topics.subscribe(`hook-occurrence/${id}`);
    for (;;) {
      const { kind, data } = await topics.next();
      const { state } = data as { readonly state?: Firing["state"] };
      if (kind === "error" || (state !== undefined && state !== "attempting")) return;
    }
  } finally {
    topics.close();
  }
}
