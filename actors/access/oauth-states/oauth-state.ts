/**
 * The `state` parameter of an OAuth link, from the authorization request to the response:
 *
 * 1. {@link beginOAuthState} creates the `state` of an authorization request.
 * 2. {@link consumeOAuthState} consumes the `state` of the response and returns the terms of the link. The
 *    function refuses another user, session or purpose, a `state` older than ten minutes, and a second use.
 */

import { createHash } from "node:crypto";
import type { Runtime } from "../../../runtime/runtime.js";
import type { PersonCaller } from "../../caller.js";
import type { Refusal } from "../../refusal.js";
import { sha256Hex } from "../../sealer.js";
import {
  type BeginOAuthState,
  type OAuthStateStarted,
  type OAuthStateTerms,
  oauthStateRef,
  type UseOAuthState,
} from "./oauth-state.messages.js";

/** A started OAuth link. */
export interface OAuthState extends OAuthStateStarted {
  /** Only the hash of the state is stored. */
  readonly state: string;
}

/** Binds the authorization code to the authorization request (PKCE, RFC 7636, S256). */
export interface Pkce {
  /** Secret until the code is exchanged. */
  readonly verifier: string;
  /** Sent with the authorization request. */
  readonly challenge: string;
}

export function createPkce({ randomBytes }: Pick<Runtime, "randomBytes">): Pkce {
  const verifier = Buffer.from(randomBytes(32)).toString("base64url");
  return { verifier, challenge: createHash("sha256").update(verifier).digest("base64url") };
}

/** Starts a link for the user in their session. */
export async function beginOAuthState(
  runtime: Runtime,
  caller: PersonCaller,
  terms: OAuthStateTerms,
): Promise<OAuthState> {
  const state = Buffer.from(runtime.randomBytes(32)).toString("base64url");
  const { sessionId } = caller;
  const message: BeginOAuthState = { type: "link.begin", stateHash: sha256Hex(state), sessionId, ...terms };
  const started = await runtime.ask(oauthStateRef(caller.userId), message);
  return { state, ...started };
}

/** Consumes the state and returns the terms of the link. Works only once. */
export async function consumeOAuthState(
  runtime: Runtime,
  caller: PersonCaller,
  { state, purpose }: { readonly state: string; readonly purpose: OAuthStateTerms["purpose"] },
): Promise<OAuthStateTerms | Refusal> {
  const message: UseOAuthState = {
    type: "link.use",
    purpose,
    stateHash: sha256Hex(state),
    sessionId: caller.sessionId,
  };
  return runtime.ask(oauthStateRef(caller.userId), message);
}
