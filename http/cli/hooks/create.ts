import { ApiError } from "../../client/entry.js";
import { confirm } from "../command/ask.js";
import type { CommonOptions, Context } from "../command/context.js";
import { CommandError, type ExitCode, exitCodes } from "../command/exit-codes.js";
import { inOptions } from "../command/in-options.js";
import { withAdviceIfLost } from "../command/lost-response.js";
import type { EventName } from "./event-names.js";
import { createSecret } from "./forwarding.js";
import { findHook } from "./hook-names.js";

export interface CreateOptions extends CommonOptions {
  readonly receiver: string;
  readonly event: EventName;
  readonly line?: readonly string[];
  readonly station?: readonly string[];
  readonly when?: string;
}

/** The start of the error message for each body field. */
const FIELD_NAMES = {
  key: "<key>: ",
  "steps[0].request.url": "--receiver: ",
  "match.lines": "--line: ",
  "match.stations": "--station: ",
  when: "--when: ",
};

/** Creates a hook that sends a signed request. Without `--json`, prints only the signing secret to standard output. */
export async function createHook(context: Context, options: CreateOptions, key: string): Promise<void> {
  const { client, names, terminal } = context;
  const { receiver, event, line: lines = [], station: stations = [], when = null } = options;
  const team = await names.team();
  const secret = createSecret();
  const call = withAdviceIfLost(
    client.post("/api/resources/teams/{teamId}/hooks", {
      path: { teamId: team.id },
      signal: null,
      body: {
        key,
        on: event,
        match: { lines, stations },
        when,
        steps: [{ name: "send", request: { url: receiver } }],
        signing: { secret, secretVersion: 1 },
      },
    }),
    `the team ${team.key} may have the hook ${key} now: run signalbox hook delete ${key}, and create it again`,
  ).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.slug !== "already-exists") throw error;
    throw new CommandError(`the team ${team.key} already has a hook ${key}: choose another key`);
  });
  const hook = await inOptions(call, FIELD_NAMES);
  context.remember({ workspace: team.workspace.slug, team: team.key });
  const ifLost = `the hook ${hook.address} was created, but its secret is lost: run signalbox hook delete ${key}, and create it again`;
  context.show({ ...hook, secret }, () => [secret], ifLost);
  for (const { path, message } of hook.warnings) terminal.note(`warning: ${path} ${message}`);
  terminal.note(
    `created the hook ${hook.address}: on ${event} it sends a request to ${receiver}, signed with this secret (Standard ` +
      `Webhooks), which is not shown again\ntry it with: signalbox hook test ${key}`,
  );
}

/** Deletes a hook. Asks for confirmation, unless `--yes` is given. */
export async function deleteHook(
  context: Context,
  { yes }: CommonOptions & { readonly yes?: true },
  name: string,
): Promise<ExitCode | undefined> {
  const { client, signal, terminal } = context;
  const { hook, team } = await findHook(context, name);
  const question = `Delete the hook ${hook.address}, which fires on ${hook.on}?`;
  if (!(await confirm(terminal, question, { isGiven: yes === true, signal }))) {
    terminal.note("the hook was not deleted");
    return exitCodes.failed;
  }
  const { id, version } = hook;
  await client.delete("/api/resources/hooks/{id}", { path: { id }, version });
  context.remember({ workspace: team.workspace.slug, team: team.key });
  context.show(hook, () => [`deleted the hook ${hook.address} (${id})`]);
  return undefined;
}
