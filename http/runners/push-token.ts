import type { CodeHost } from "../../actors/outbound/code-host/code-host.js";
import { CodeHostRefused } from "../../actors/outbound/code-host/code-host-requests.js";
import type { MadePush, WaitingPush } from "../../actors/runners/push.js";

/** A token for one repository, and the repository's address. */
interface PushToken {
  readonly url: string;
  readonly token: string;
}

/** Requests a push token from the code host. Rejects with {@link CodeHostRefused}. */
export type MakePushToken = (
  wanted: Pick<WaitingPush, "host" | "installationId" | "repository" | "workflows">,
) => Promise<PushToken>;

/** Returns a function that creates tokens of the configured code host; null if none is configured. */
export function toPushTokens(codeHost: CodeHost | null): MakePushToken | null {
  if (codeHost === null) return null;
  return async ({ host, ...push }) => {
    if (host !== codeHost.name) throw new CodeHostRefused(`The code host ${host} is not configured on this service.`);
    return codeHost.pushToken(push);
  };
}

const NO_HOST = "No code host is configured on this service.";

/**
 * The parts of a push order that are created when the order is sent. `limitedUntilMs` is the time until which the code
 * host's rate limit prevents a token; null if the rate limit is not the reason.
 */
interface PushMade {
  readonly made: MadePush;
  readonly limitedUntilMs: number | null;
}

/**
 * Creates the token for a push, or returns the reason why it cannot be created. `make` is null if no code host is
 * configured.
 */
export async function makePush(make: MakePushToken | null, waiting: WaitingPush): Promise<PushMade> {
  if (make === null) return { made: { url: "", token: null, why: NO_HOST }, limitedUntilMs: null };
  try {
    const { url, token } = await make(waiting);
    return { made: { url, token }, limitedUntilMs: null };
  } catch (error) {
    if (!(error instanceof CodeHostRefused)) throw error;
    return { made: { url: "", token: null, why: error.message }, limitedUntilMs: error.retryAtMs };
  }
}
