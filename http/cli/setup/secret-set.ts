import type { Schema } from "../../client/entry.js";
import type { CommonOptions, Context } from "../command/context.js";
import { CommandError, exitCodes } from "../command/exit-codes.js";

export interface SecretOptions extends CommonOptions {
  readonly workspace?: string;
  readonly host?: readonly string[];
  readonly exact?: true;
}

/** Sets the value of a secret. Creates the secret if it is missing. */
export async function setSecret(context: Context, options: SecretOptions, name: string): Promise<void> {
  const { client, names } = context;
  const workspace = await names.workspace(options.workspace);
  const path = { workspaceId: workspace.id };
  const { items } = await client.get("/api/resources/workspaces/{workspaceId}/secrets", { path });
  const found = items.find((secret) => secret.name === name);
  const value = await readValue(context, name, options.exact === true);
  const secret = await write(context, workspace.id, found, { name, value, hosts: options.host });
  const hosts = secret.hosts.length === 0 ? "no host" : secret.hosts.join(", ");
  context.show(secret, () => [
    `${found === undefined ? "created" : "updated"} the secret ${secret.name} in ${workspace.slug}: version ${secret.valueVersion}, for ${hosts}`,
  ]);
}

interface NewValue {
  readonly name: string;
  readonly value: string;
  /** The hosts of the secret. Undefined keeps the hosts of an existing secret. */
  readonly hosts: readonly string[] | undefined;
}

async function write(
  { client }: Context,
  workspaceId: string,
  found: Schema<"Secret"> | undefined,
  { name, value, hosts }: NewValue,
): Promise<Schema<"Secret">> {
  if (found === undefined) {
    const body = { name, value, valueVersion: 1, ...(hosts === undefined ? {} : { hosts }) };
    return await client.post("/api/resources/workspaces/{workspaceId}/secrets", { path: { workspaceId }, body });
  }
  const { id, version, valueVersion } = found;
  const body = { name, value, valueVersion: valueVersion + 1, hosts: hosts ?? found.hosts };
  return await client.put("/api/resources/secrets/{id}", { path: { id }, version, body });
}

/** Reads the value. Throws a {@link CommandError} if it is empty or is not UTF-8 text. */
async function readValue({ terminal, signal }: Context, name: string, isExact: boolean): Promise<string> {
  const { askHidden } = terminal;
  const given = askHidden === null ? await terminal.readInput() : await askHidden(`Value of ${name} (hidden):`, signal);
  if (given === null) throw new CommandError("no value was given", exitCodes.interrupted);
  const value = isExact ? given : given.replace(/\r?\n$/, "");
  if (value === "") throw new CommandError("the value is empty: pass it on standard input", exitCodes.usage);
  if (value.includes("\ufffd")) {
    throw new CommandError("the value is not text in UTF-8: encode it, for example in base64", exitCodes.usage);
  }
  return value;
}
