import type { CodeHost } from "../../actors/outbound/code-host.js";
import { CodeHostRefused } from "../../actors/outbound/code-host-requests.js";
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

/** The token of a push, or why there is none; `make` is null where no code host is set up. */
export async function makePush(make: MakePushToken | null, waiting: WaitingPush): Promise<MadePush> {
  if (make === null) return { url: "", token: null, why: NO_HOST };
  try {
    const { url, token } = await make(waiting);
    return { url, token };
  } catch (error) {
    if (!(error instanceof CodeHostRefused)) throw error;
    return { url: "", token: null, why: error.message };
  }
}
