import type { Schema } from "../../client/entry.js";
import { confirm } from "../command/ask.js";
import type { CommonOptions, Context } from "../command/context.js";
import { type ExitCode, exitCodes } from "../command/exit-codes.js";
import { showList } from "../command/list-limit.js";
import type { NamedWorkspace } from "../command/names.js";
import { pickResource } from "../command/pick-resource.js";
import { toTable } from "../command/table.js";
import { toTimeText } from "../command/time-text.js";

type Token = Schema<"WorkspaceToken">;

export interface WorkspaceOption extends CommonOptions {
  readonly workspace?: string;
}

export interface RevokeOptions extends WorkspaceOption {
  readonly yes?: true;
}

/** Lists the tokens of a workspace without their values, which the service does not store. */
export async function listTokens(context: Context, options: WorkspaceOption): Promise<void> {
  const { names, terminal } = context;
  const workspace = await names.workspace(options.workspace);
  const items = await readTokens(context, workspace);
  showList(
    context,
    { items, hasMore: false },
    {
      none: `the workspace ${workspace.slug} has no tokens: create one with signalbox token create <name> --scope <scopes>`,
      toLines: () =>
        toTable(
          terminal,
          [
            { title: "id", of: ({ id }) => id },
            { title: "name", of: ({ name }) => name },
            { title: "scopes", of: ({ scopes }) => scopes.join(", "), isFlexible: true },
            { title: "created", of: ({ issuedAt }) => toTimeText(terminal, issuedAt), isMinor: true },
            { title: "expires", of: ({ expiresAt }) => toTimeText(terminal, expiresAt) ?? "never" },
            { title: "description", of: ({ description }) => description, isFlexible: true },
          ],
          items,
        ),
    },
  );
  for (const { name, warnings } of items) {
    for (const { message } of warnings) terminal.note(`warning: token ${name}: ${message}`);
  }
}

/** Revokes a token, by its id or name. Asks for confirmation, unless `--yes` is given. */
export async function revokeToken(
  context: Context,
  { yes, ...options }: RevokeOptions,
  name: string,
): Promise<ExitCode | undefined> {
  const { client, names, signal, terminal } = context;
  const workspace = await names.workspace(options.workspace);
  const kind = { what: "token", where: `the workspace ${workspace.slug}`, key: ({ name: key }: Token) => key };
  const token = pickResource(kind, await readTokens(context, workspace), name);
  const question = `Revoke the token ${token.name} (${token.scopes.join(", ")}) of ${workspace.slug}? Programs that use it lose access.`;
  if (!(await confirm(terminal, question, { isGiven: yes === true, signal }))) {
    terminal.note("the token was not revoked");
    return exitCodes.failed;
  }
  const { id, version } = token;
  await client.delete("/api/resources/tokens/{id}", { path: { id }, version });
  context.show(token, () => [`revoked the token ${token.name} (${id}) of ${workspace.slug}`]);
  return undefined;
}

async function readTokens({ client }: Context, { id: workspaceId }: NamedWorkspace): Promise<readonly Token[]> {
  return (await client.get("/api/resources/workspaces/{workspaceId}/tokens", { path: { workspaceId } })).items;
}
