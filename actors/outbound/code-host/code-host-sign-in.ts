import { z } from "zod";
import type { RuntimeLog } from "../../../runtime/runtime.js";
import { authorizationUrl } from "../oauth/authorization-url.js";
import { readTokens } from "../oauth/oauth-tokens.js";
import { type AskCodeHost, CodeHostRefused, isOtherAnswer, isRefusedWith, readAs } from "./code-host-requests.js";
import type { CodeHostSettings } from "./code-host-settings.js";

/** The account at the code host that owns an installation. */
export interface HostAccount {
  readonly id: number;
  readonly login: string;
  readonly kind: "organization" | "user" | "other";
}

/** The parameters of a sign-in request. */
export interface SignInRequest {
  readonly state: string;
  /** The PKCE challenge (RFC 7636), method S256. */
  readonly challenge: string;
  readonly redirectUri: string;
}

/** The authorization code of a sign-in, with the parameters of its request. */
export interface SignInReturn {
  readonly code: string;
  /** The PKCE verifier (RFC 7636). */
  readonly verifier: string;
  readonly redirectUri: string;
}

interface SignInParts {
  readonly ask: AskCodeHost;
  readonly settings: CodeHostSettings;
  /** Name of the code host in messages. */
  readonly name: string;
  readonly log: Pick<RuntimeLog, "warn">;
}

const personSchema = z.object({ id: z.int().positive() });
const membershipSchema = z.object({
  state: z.string(),
  role: z.string(),
  organization: z.object({ id: z.int().positive() }),
});

/** The form of error codes. Any other text is not logged. */
const ERROR_CODE = /^[a-z_]{1,50}$/;

/** Error codes of GitHub and RFC 6749 that a person can fix by signing in again. */
const UNCONFIRMED = ["bad_verification_code", "invalid_grant", "access_denied", "unverified_user_email"];

/** Returns the address where a person signs in. The code host then sends the person back to `redirectUri`. */
export function signInUrl({ webUrl, clientId }: CodeHostSettings, way: SignInRequest): string {
  return authorizationUrl(`${webUrl}/login/oauth/authorize`, { clientId, ...way });
}

/** Fetches the person's token. Returns null if the code host does not confirm the sign-in. */
export async function fetchPersonToken(
  { ask, settings, name, log }: SignInParts,
  { code, verifier, redirectUri }: SignInReturn,
): Promise<string | null> {
  const { clientId, clientSecret, webUrl } = settings;
  const form = new URLSearchParams({
    grant_type: "authorization_code",
    client_id: clientId,
    client_secret: clientSecret,
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
  });
  const { status, json } = await ask({
    what: "a sign-in",
    url: `${webUrl}/login/oauth/access_token`,
    authorization: null,
    body: { type: "application/x-www-form-urlencoded", text: form.toString() },
  });
  const read = readTokens(json);
  // For an invalid code, GitHub answers 200; other hosts answer 400 or 401.
  if (read !== null && "error" in read) {
    const error = ERROR_CODE.test(read.error) ? read.error : "unknown";
    log.warn("the code host rejected a sign-in", { host: name, error });
    if (UNCONFIRMED.includes(error)) return null;
    throw new CodeHostRefused(`${name} rejected this service's OAuth client. Check the client id and secret.`);
  }
  if (status >= 300) throw isRefusedWith(name, status);
  if (read === null) throw isOtherAnswer(name);
  return read.tokens.access;
}

/**
 * Whether the person is an active admin of the organization, or is the user who owns the account. Returns `unknown` if
 * the code host does not accept the token for this question.
 */
export async function isAdministrator(
  { ask, settings, name }: SignInParts,
  token: string,
  account: HostAccount,
): Promise<"yes" | "no" | "unknown"> {
  const authorization = `Bearer ${token}`;
  const { apiUrl } = settings;
  if (account.kind === "other") return "no";
  if (account.kind === "user") {
    const { status, json } = await ask({ what: "a person", url: `${apiUrl}/user`, authorization });
    if (status === 401 || status === 403) return "unknown";
    if (status !== 200) throw isRefusedWith(name, status);
    return readAs(name, personSchema, json).id === account.id ? "yes" : "no";
  }
  const url = `${apiUrl}/user/memberships/orgs/${encodeURIComponent(account.login)}`;
  const { status, json } = await ask({ what: "a membership", url, authorization });
  if (status === 404) return "no";
  if (status === 401 || status === 403) return "unknown";
  if (status !== 200) throw isRefusedWith(name, status);
  const { state, role, organization } = readAs(name, membershipSchema, json);
  return organization.id === account.id && state === "active" && role === "admin" ? "yes" : "no";
}
