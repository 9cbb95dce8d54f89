import { integrationConnectionTopic, type LinkEnded } from "../../actors/integrations/connection.messages.js";
import type { IntegrationConnectionKey } from "../../actors/integrations/connection-permissions.js";
import type { Runtime } from "../../runtime/runtime.js";
import { listenForOutcome, type OutcomeWait } from "../outcome-wait.js";

/** How long an answer waits for the host, in milliseconds: three requests of ten seconds at most. */
const HOST_WAIT_MS = 35_000;

/**
 * Listens for the end of an exchange, from before it is begun: why it failed, or null when the account is connected.
 * After {@link HOST_WAIT_MS} the account may still be.
 */
export function listenForLinkEnd(
  runtime: Runtime,
  place: IntegrationConnectionKey,
  exchangeId: string,
): OutcomeWait<string | null> {
  const toOutcome = (data: unknown) => {
    const told = data as LinkEnded;
    return told.exchangeId === exchangeId ? told.failed : undefined;
  };
  const topic = { workspaceId: place.workspaceId, topic: integrationConnectionTopic(place).name, toOutcome };
  return listenForOutcome(runtime, topic, { maxMs: HOST_WAIT_MS, late: "the host has not answered yet" });
}
