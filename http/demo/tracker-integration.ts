import { readFileSync } from "node:fs";
import type { Client, Schema } from "../client/entry.js";
import type { Configured } from "./configuration.js";
import type { Tracker } from "./tracker.js";

/**
 * This file creates the tracker's integration: the definition of `docs/integrations/tracker/`, with the demo tracker's
 * address.
 */

const SHIPPED = new URL("../../../docs/integrations/tracker/integration.json", import.meta.url);
/** The host in the shipped definition. */
const HOST = "api.linear.app";

/**
 * Creates the integration with its secrets, and the line. Returns the integration's id, and the address for deliveries.
 */
export async function connectTracker(
  client: Client,
  { workspaceId, teamId }: Configured,
  tracker: Tracker,
): Promise<{ readonly integrationId: string; readonly deliveriesUrl: string }> {
  for (const secret of listSecrets(tracker)) {
    await client.post("/api/resources/workspaces/{workspaceId}/secrets", { path: { workspaceId }, body: secret });
  }
  const { id, deliveriesUrl } = await client.post("/api/resources/teams/{teamId}/integrations", {
    path: { teamId },
    body: definitionFor(tracker),
  });
  await client.post("/api/resources/teams/{teamId}/lines", { path: { teamId }, body: line });
  return { integrationId: id, deliveriesUrl: deliveriesUrl ?? "" };
}

function definitionFor({ api }: Tracker): Schema<"IntegrationInput"> {
  const text = readFileSync(SHIPPED, "utf8");
  return JSON.parse(text.replaceAll(`https://${HOST}/`, `${api.url}/`).replaceAll(`"${HOST}"`, `"${api.host}"`));
}

/**
 * Returns the secrets that the integration names. The key is sent only to the tracker; the secret that signs deliveries
 * is never sent.
 */
function listSecrets({ api, key, secret }: Tracker): readonly Schema<"SecretInput">[] {
  return [
    { name: "tracker-key", value: key, valueVersion: 1, hosts: [api.host] },
    { name: "tracker-webhook", value: secret, valueVersion: 1 },
  ];
}

/** The line for the tracker's issues, with the tools that the agent may call. */
const line: Schema<"LineInput"> = {
  key: "fix",
  name: "Fix",
  repositories: [{ name: "acme/project" }],
  stations: [
    {
      key: "mend",
      name: "Mend",
      kind: "work",
      harness: "command",
      prompt: "Work the issue.",
      tools: ["tracker.read_issue", "tracker.comment", "tracker.set_state"],
      runners: { pool: "local", labels: [] },
    },
  ],
};
