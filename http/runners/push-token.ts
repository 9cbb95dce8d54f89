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
