import { readFileSync } from "node:fs";
import type { Client } from "./service.js";

/** A definition in `docs/integrations/`, as in its file. */
export interface ShippedIntegration {
  /** The definition's path in `docs/integrations/`, such as `tracker/integration.json`. */
  readonly file: string;
  readonly definition: Readonly<Record<string, unknown>>;
  /** The secrets that a reader of the integration's page creates, by name, each with its bound hosts. */
  readonly secrets: Readonly<Record<string, readonly string[]>>;
}

const FOLDER = "docs/integrations";

/** The secrets that each page lists. */
const pages: Readonly<Record<string, ShippedIntegration["secrets"]>> = {
  "tracker/integration.json": { "tracker-key": ["api.linear.app"], "tracker-webhook": [] },
  "chat/integration.json": { "chat-token": ["slack.com", "files.slack.com"], "chat-signing": [] },
  "issues/integration.json": { "issues-token": ["api.github.com"], "issues-webhook": [] },
  "issues/poll.json": { "issues-token": ["api.github.com"] },
};

export const shippedFiles: readonly string[] = Object.keys(pages);

/** Returns a file of a shipped integration as text. */
export function shippedText(file: string): string {
  return readFileSync(`${FOLDER}/${file}`, "utf8");
}

/**
 * Returns a shipped integration. `hosts` replaces hosts of the definition by hosts of the test, for example
 * `api.linear.app` by `127.0.0.1:4000`. Everything else stays as in the file.
 */
export function shippedIntegration(file: string, hosts: Readonly<Record<string, string>> = {}): ShippedIntegration {
  const moved = Object.entries(hosts).reduce(
    (text, [host, local]) =>
      text.replaceAll(`https://${host}/`, `http://${local}/`).replaceAll(`"${host}"`, `"${local}"`),
    shippedText(file),
  );
  const definition: { readonly hosts: readonly string[] } = JSON.parse(moved);
  const secrets = Object.entries(pages[file] ?? {}).map(([name, bound]) => {
    return [name, [...new Set(bound.map((host) => hosts[host] ?? host))]];
  });
  const distinct = { ...definition, hosts: [...new Set(definition.hosts)] };
  return { file, definition: distinct, secrets: Object.fromEntries(secrets) };
}

/**
 * Creates the integration's secrets and the integration, as the integration's page describes. Returns the created
 * integration.
 */
export async function createShipped(
  owner: Client,
  { workspaceId, teamId }: { readonly workspaceId: string; readonly teamId: string },
  { definition, secrets }: ShippedIntegration,
  values: Readonly<Record<string, string>> = {},
): Promise<Readonly<Record<string, unknown>> & { readonly id: string }> {
  for (const [name, hosts] of Object.entries(secrets)) {
    const secret = { name, value: values[name] ?? `the ${name}`, valueVersion: 1, hosts };
    await owner.create(`/api/resources/workspaces/${workspaceId}/secrets`, secret);
  }
  return owner.create(`/api/resources/teams/${teamId}/integrations`, definition);
}
