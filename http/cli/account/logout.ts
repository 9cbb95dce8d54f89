import { ApiError } from "../../client/entry.js";
import type { Context } from "../command/context.js";
import { removeLogin } from "../command/logins.js";

/** Ends a person's session at the service and removes the credential from this machine. */
export async function logout(context: Context): Promise<void> {
  const { url, cookie } = context.login;
  if (cookie !== undefined) {
    await context.client.delete("/api/sessions", { signal: context.signal }).catch((error: unknown) => {
      // The session has ended already.
      if (!(error instanceof ApiError && error.status === 401)) throw error;
    });
  }
  removeLogin(context.terminal, url);
  context.show({ url }, () => [`signed out of ${url}`]);
}
