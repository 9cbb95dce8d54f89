import type { Runtime } from "../../runtime/runtime.js";
import { beginOAuthState, consumeOAuthState, createPkce } from "../access/oauth-states/oauth-state.js";
import type { PersonCaller } from "../caller.js";
import type { CodeHost } from "../outbound/code-host/code-host.js";
import { isRefusal, type Refusal } from "../refusal.js";
import type { Sealer } from "../sealer.js";
import { sealSignInGrant } from "./confirmation.effects.js";
import type { ConfirmInstallation } from "./connection.messages.js";
import { type AdministeredWorkspace, findAdministered } from "./connection.queries.js";
import type { InstallationKey } from "./installation.js";
import { notConfirmed, notSetUp } from "./refusals.js";

/** A user's sign-in at the code host, which confirms that they administer an installation. */

/** The services and settings for a sign-in. */
export interface SignInOptions {
  readonly runtime: Runtime;
  readonly sealer: Sealer;
  /** Null if the deployment has no code host. */
  readonly codeHost: CodeHost | null;
  /** The service's redirect URI. */
  readonly redirectUri: string;
}

/** The URL where the user signs in, and when the sign-in expires. */
export interface SignInStarted {
  readonly url: string;
  readonly expiresAtMs: number;
}

/** Starts a sign-in at the code host, so that the administrator can connect the installation with this number. */
export async function beginSignIn(
  { runtime, sealer, codeHost, redirectUri }: SignInOptions,
  { workspaceId, administrator }: AdministeredWorkspace,
  installationId: number,
): Promise<SignInStarted | Refusal> {
  if (codeHost === null) return notSetUp;
  const { verifier, challenge } = createPkce(runtime);
  const { state, expiresAtMs } = await beginOAuthState(runtime, administrator, {
    purpose: "code-host",
    subject: { workspaceId, installationId: String(installationId) },
    sealed: sealer.seal(verifier),
  });
  return { url: codeHost.signInUrl({ state, challenge, redirectUri }), expiresAtMs };
}

/** The installation for which a sign-in was started, and the data with which the code host confirms it. */
export interface SignInReturn {
  readonly workspaceId: string;
  readonly installation: InstallationKey;
  readonly signedIn: Pick<ConfirmInstallation, "by" | "sealedSignIn">;
}

/**
 * Reads the code host's response to a sign-in and consumes the OAuth state of the response. `code` is undefined if the
 * response has no code. Refuses a user who does not administer the workspace now.
 */
export async function readSignInReturn(
  { runtime, sealer, codeHost, redirectUri }: SignInOptions,
  caller: PersonCaller,
  { state, code }: { readonly state: string; readonly code: string | undefined },
): Promise<SignInReturn | Refusal> {
  const started = await consumeOAuthState(runtime, caller, { state, purpose: "code-host" });
  if (isRefusal(started)) return started;
  if (codeHost === null) return notSetUp;
  const { name: host } = codeHost;
  const { workspaceId = "", installationId: number } = started.subject;
  const administered = findAdministered(runtime.reading, caller, { workspaceId, host });
  if (isRefusal(administered)) return administered;
  if (code === undefined || started.sealed === null) return notConfirmed(host);
  const installation = { host, installationId: Number(number) };
  const grant = {
    installationId: installation.installationId,
    code,
    verifier: sealer.open(started.sealed),
    redirectUri,
  };
  return { workspaceId, installation, signedIn: { by: caller.userId, sealedSignIn: sealSignInGrant(sealer, grant) } };
}
