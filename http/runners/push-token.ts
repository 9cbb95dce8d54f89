import type { CodeHost } from "../../actors/outbound/code-host/code-host.js";
import { CodeHostRefused } from "../../actors/outbound/code-host/code-host-requests.js";
import type { MadePush, WaitingPush } from "../../actors/runners/push.js";

/** A token of one repository, and the address that it is for. */
interface PushToken {
  readonly url: string;
  readonly token: string;
}

/** Asks the code host for the token of a push. Rejects with {@link CodeHostRefused}. */
export type MakePushToken = (
  wanted: Pick<WaitingPush, "host" | "installationId" | "repository" | "workflows">,
) => Promise<PushToken>;

/** Tokens of the code host that is set up; null where none is. */
export function toPushTokens(codeHost: CodeHost | null): MakePushToken | null {
  if (codeHost === null) return null;
  return async ({ host, ...push }) => {
    if (host !== codeHost.name) throw new CodeHostRefused(`${host} is not set up as the code host here any more.`);
    return codeHost.pushToken(push);
  };
}

const NO_HOST = "No code host is set up for this service.";

/** What of an order is made, and until when the code host makes no token; null where that is not why there is none. */
interface PushMade {
  readonly made: MadePush;
  readonly limitedUntilMs: number | null;
}

/** The token of a push, or why there is none; `make` is null where no code host is set up. */
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
