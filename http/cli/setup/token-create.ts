import { ApiError, type Schema } from "../../client/entry.js";
import type { CommonOptions, Context } from "../command/context.js";
import { CommandError } from "../command/exit-codes.js";
import { withAdviceIfLost } from "../command/lost-response.js";
import { toTimeText } from "../command/time-text.js";
import type { Scope } from "./scopes.js";

export interface TokenOptions extends CommonOptions {
  readonly workspace?: string;
  readonly scope: readonly Scope[];
  /** RFC 3339. */
  readonly expires?: string;
  readonly description?: string;
}

/** Creates a workspace token. Prints the token alone to standard output. */
export async function createToken(context: Context, options: TokenOptions, name: string): Promise<void> {
  const { client, names, terminal } = context;
  const { scope: scopes, expires: expiresAt = null, description = "" } = options;
  const workspace = await names.workspace(options.workspace);
  const path = { workspaceId: workspace.id };
  const body: Schema<"WorkspaceTokenInput"> = { name, scopes, expiresAt, description };
  // Do not use `client.post`, because the token is in a header of the response.
  const made = await withAdviceIfLost(
    client.send("post", "/api/resources/workspaces/{workspaceId}/tokens", { path, body, signal: null }),
    `${workspace.slug} may have the token ${name} now: revoke it with signalbox token revoke ${name}, and create another`,
  ).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.slug !== "already-exists") throw error;
    throw new CommandError(`${workspace.slug} already has a token with the name ${name}: choose another name`);
  });
  const token = made.headers.get("service-workspace-token");
  if (token === null)
    throw new CommandError(
      "the service did not return the token: revoke it (signalbox token revoke), and create another",
    );
  const created: Schema<"WorkspaceToken"> = JSON.parse(made.text);
  const ifLost = `the token ${name} was created in ${workspace.slug}, but it is lost: revoke it with signalbox token revoke ${name}, and create another`;
  context.show({ ...created, token }, () => [token], ifLost);
  const ends =
    created.expiresAt === null ? "it does not expire" : `it expires ${toTimeText(terminal, created.expiresAt)}`;
  terminal.note(
    `created the token ${name} in ${workspace.slug} (${created.scopes.join(", ")}): ${ends}, and is not shown again`,
  );
}
