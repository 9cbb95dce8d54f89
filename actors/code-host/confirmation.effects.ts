import { z } from "zod";
import type { Effect } from "../../runtime/cells/actor-type.js";
import { effect } from "../../runtime/effects/effect-type.js";
import type { CodeHost, Installation } from "../outbound/code-host/code-host.js";
import { CodeHostRefused } from "../outbound/code-host/code-host-requests.js";
import { codeHostLane } from "../outbound/http/lanes.js";
import type { Sealer } from "../sealer.js";

/**
 * Asks the code host whether a user administers an installation. The input is a {@link SignInGrant}, sealed as JSON
 * because it gives access to the user's account.
 */
export const CONFIRMATION_EFFECT = effect<string, Confirmation>("code-host-confirmation");

const signInGrantSchema = z.strictObject({
  installationId: z.int().positive(),
  code: z.string(),
  verifier: z.string(),
  redirectUri: z.string(),
});

/** The installation to confirm, and the data to exchange the authorization code for the user's token. */
export type SignInGrant = z.output<typeof signInGrantSchema>;

/** Seals a grant as input for {@link CONFIRMATION_EFFECT}. */
export function sealSignInGrant(sealer: Pick<Sealer, "seal">, signedIn: SignInGrant): string {
  return sealer.seal(JSON.stringify(signedIn));
}

/** The code host's answer to the question whether a user administers an installation. */
export type Confirmation =
  | { readonly confirmed: "yes"; readonly installation: ConfirmedInstallation }
  /**
   * The user does not administer the installation, the installation does not exist, or its account is neither an
   * organisation nor a user.
   */
  | { readonly confirmed: "no" }
  | { readonly confirmed: "unknown" }
  /** The code host refused a request, or no code host is configured. `why` may be shown to users. */
  | { readonly confirmed: "refused"; readonly why: string };

export interface ConfirmedInstallation extends Pick<Installation, "isSuspended" | "updatedAtMs"> {
  /** The app's permissions for the installation; absent if the code host does not report them. */
  readonly permissions?: Installation["permissions"];
  readonly account: { readonly login: string; readonly kind: "organization" | "user" };
}

export interface ConfirmationOptions {
  /** Null if no code host is currently configured. */
  readonly codeHost: CodeHost | null;
  readonly sealer: Pick<Sealer, "open">;
}

/**
 * Asks the code host whether a user administers an installation. Never stores the user's token. If the effect runs
 * again after a crash, the code host may reject the used authorization code. The result is then `unknown`, and the user
 * must sign in again.
 */
export function confirmationEffect({ codeHost, sealer }: ConfirmationOptions): Effect {
  return CONFIRMATION_EFFECT.implement(codeHostLane, async (sealed) => {
    const signedIn = signInGrantSchema.parse(JSON.parse(sealer.open(sealed)));
    if (codeHost === null) return { confirmed: "refused", why: "No code host is configured on this service anymore." };
    try {
      return await confirm(codeHost, signedIn);
    } catch (error) {
      if (error instanceof CodeHostRefused) return { confirmed: "refused", why: error.message };
      throw error;
    }
  });
}

async function confirm(codeHost: CodeHost, { installationId, ...back }: SignInGrant): Promise<Confirmation> {
  const token = await codeHost.personToken(back);
  if (token === null) return { confirmed: "unknown" };
  const there = await codeHost.installation(installationId);
  const installation = there === null ? null : toConfirmedInstallation(there);
  if (there === null || installation === null) return { confirmed: "no" };
  const administers = await codeHost.administers(token, there.account);
  return administers === "yes" ? { confirmed: "yes", installation } : { confirmed: administers };
}

/**
 * Converts an installation to its stored data. Returns null if the account is neither an organisation nor a user,
 * because nobody can confirm such an installation.
 */
export function toConfirmedInstallation({
  account,
  isSuspended,
  updatedAtMs,
  permissions,
}: Installation): ConfirmedInstallation | null {
  const { kind, login } = account;
  const hasPermissions = Object.keys(permissions).length > 0;
  return kind === "other"
    ? null
    : { account: { login, kind }, isSuspended, updatedAtMs, ...(hasPermissions && { permissions }) };
}
