import type { Context } from "../command/context.js";
import { toFields } from "../command/table.js";

/** Shows the person or token, its workspaces, and the default team of this folder. */
export async function whoami(context: Context): Promise<void> {
  const { url, token } = context.login;
  const { workspace = null, team = null } = context.defaults;
  const me = token === undefined ? await context.client.get("/api/sessions/me") : null;
  const workspaces = me?.workspaces ?? (await context.names.workspaces());
  const { name = null, email = null, userId = null } = me ?? {};
  context.show({ url, userId, name, email, isToken: me === null, workspaces, workspace, team }, () =>
    toFields(context.terminal, [
      ["service", url],
      ["person", me === null ? "a workspace token" : `${name} <${email}>`],
      ["workspaces", workspaces.map(({ slug }) => slug).join(", ")],
      ["default team", team === null ? null : `${workspace}/${team}`],
    ]),
  );
}
