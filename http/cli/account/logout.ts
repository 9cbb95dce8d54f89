import { ApiError, ConnectionError } from "../../client/entry.js";
import type { Context } from "../command/context.js";
import { removeLogin } from "../command/logins.js";

/**
 * Ends a person's session at the service and removes the credential from this machine. If the service does not respond,
 * only removes the credential, because the service may have stopped for good.
 */
export async function logout(context: Context): Promise<void> {
  const { url, cookie } = context.login;
  if (cookie !== undefined) {
    await context.client.delete("/api/sessions").catch((error: unknown) => {
      if (error instanceof ConnectionError) {
        context.terminal.note(`cannot reach ${url}: the session there remains until it expires`);
      } else if (!(error instanceof ApiError && error.status === 401)) throw error;
    });
  }
  removeLogin(context.terminal, url);
  context.show({ url }, () => [`signed out of ${url}`]);
}
