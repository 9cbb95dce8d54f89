import { readFileSync } from "node:fs";
import type { Client } from "./service.js";

/** A definition of `docs/integrations/`, as its file has it. */
export interface ShippedIntegration {
  /** `tracker/integration.json` */
  readonly file: string;
  readonly definition: Readonly<Record<string, unknown>>;
  /** The secrets that its page has one create, by name; with the hosts that each is bound to. */
  readonly secrets: Readonly<Record<string, readonly string[]>>;
}

const FOLDER = "docs/integrations";

/** What the pages say of each. */
const pages: Readonly<Record<string, ShippedIntegration["secrets"]>> = {
  "tracker/integration.json": { "tracker-key": ["api.linear.app"], "tracker-webhook": [] },
  "chat/integration.json": { "chat-token": ["slack.com", "files.slack.com"], "chat-signing": [] },
  "issues/integration.json": { "issues-token": ["api.github.com"], "issues-webhook": [] },
  "issues/poll.json": { "issues-token": ["api.github.com"] },
};

export const shippedFiles: readonly string[] = Object.keys(pages);

/** A file of a shipped integration, as text. */
export function shippedText(file: string): string {
  return readFileSync(`${FOLDER}/${file}`, "utf8");
}

/**
 * A shipped integration. `hosts` are those of its own hosts that stand elsewhere in this test: `api.linear.app` ->
 * `127.0.0.1:4000`. All else is as the file has it.
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

/** Creates its secrets and the integration itself, as its page says. Returns the integration as it was answered. */
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
