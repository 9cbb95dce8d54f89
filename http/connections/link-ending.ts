import { integrationConnectionTopic, type LinkEnded } from "../../actors/integrations/connection.messages.js";
import type { IntegrationConnectionKey } from "../../actors/integrations/connection-permissions.js";
import type { Runtime } from "../../runtime/runtime.js";

/** How long an answer waits for the host, in milliseconds: three requests of ten seconds at most. */
const HOST_WAIT_MS = 35_000;

/** The end of an exchange that is to be begun. */
export interface LinkEnding {
  /** Why it failed, null when the account is connected; "unknown" when the host takes too long: it may still be. */
  readonly failed: Promise<string | null | "unknown">;
  /** Waits no longer. */
  cancel(): void;
}

/** Listens for the end of an exchange, from before it is begun. */
export function listenForEnding(runtime: Runtime, place: IntegrationConnectionKey, exchangeId: string): LinkEnding {
  let cancel = (): void => undefined;
  const failed = new Promise<string | null | "unknown">((resolve) => {
    const unlisten = runtime.feed.listen(place.workspaceId, integrationConnectionTopic(place), ({ data }) => {
      const told = data as LinkEnded;
      if (told.exchangeId === exchangeId) end(told.failed);
    });
    const cancelWait = runtime.clock.at(runtime.clock.now() + HOST_WAIT_MS, () => end("unknown"));
    const end = (outcome: string | null | "unknown"): void => {
      unlisten();
      cancelWait();
      resolve(outcome);
    };
    cancel = () => end("unknown");
  });
  return { failed, cancel };
}
