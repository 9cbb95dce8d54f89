import { z } from "zod";
import type { RunSignal } from "../../../runtime/effects/run-signal.js";
import type { OutboundAnswer } from "../http/http-exchange.js";
import { parseJson, toReason, withoutEmptyMembers } from "../http/json-answer.js";
import type { Outbound } from "../http/request.js";
import { OAUTH_REQUEST_MS } from "./oauth-server.js";

/** The service as an OAuth client of a host. */
export interface OAuthClient {
  readonly clientId: string;
  /** Null for a public client. */
  readonly clientSecret: string | null;
  /** How the client authenticates (RFC 6749, 2.3.1). */
  readonly clientAuth: "basic" | "body";
}

/** The tokens that a host returns for a code or a refresh token. */
export interface Tokens {
  readonly access: string;
  /** The refresh token; null if the host returns none. */
  readonly refresh: string | null;
  /** Lifetime of the access token in seconds; null if the host does not say. */
  readonly lastsSeconds: number | null;
  /** The granted scopes; null if the host granted the requested scopes. */
  readonly scopes: readonly string[] | null;
}

/** Tokens, and the normalized answer that contains them. */
export interface TokensRead {
  readonly ok: true;
  readonly tokens: Tokens;
  readonly response: Readonly<Record<string, unknown>>;
}

/**
 * The result of a token request. A reason contains nothing of the host's answer except its status or a known error
 * code.
 */
export type TokenAnswer =
  | TokensRead
  /** `isFinal`: the grant itself is invalid, so a retry cannot succeed. */
  | { readonly ok: false; readonly isFinal: boolean; readonly reason: string };

interface Asking {
  readonly url: URL;
  readonly client: OAuthClient;
  readonly parameters: Readonly<Record<string, string>>;
  readonly signal: RunSignal;
}

/** A token goes into a header, so it may only contain characters that are valid there. */
const token = z
  .string()
  .min(1)
  .max(16_384)
  .regex(/^[\x21-\x7e]+$/);

/** Token types that are not bearer tokens (RFC 6749, 7.1; RFC 9449) or not access tokens. */
const OTHER_TYPES = /^(mac|dpop|pop|hawk|hmac|n_a)\b/i;

const tokenSchema = z.looseObject({
  access_token: token,
  // Some hosts use other words for bearer tokens, such as `bot` and `user`.
  token_type: z
    .unknown()
    .refine((type) => typeof type !== "string" || !OTHER_TYPES.test(type.trim()))
    .optional(),
  // Some hosts write `false` or a number if there is no refresh token.
  refresh_token: z.preprocess((value) => (typeof value === "string" ? value : undefined), token.optional()),
  // Some hosts write numbers as strings.
  expires_in: z.coerce.number().positive().max(1e9).optional().catch(undefined),
  scope: z.string().max(10_000).optional().catch(undefined),
});
const errorSchema = z.looseObject({ error: z.string() });
/** Error codes that may be shown: those of OAuth and of GitHub. Any other text is untrusted. */
const CODES: ReadonlySet<string> = new Set([
  ...["invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type"],
  ...["invalid_scope", "invalid_target", "access_denied", "server_error", "temporarily_unavailable"],
  ...["bad_verification_code", "bad_refresh_token", "incorrect_client_credentials", "redirect_uri_mismatch"],
]);
/** Error codes that mean that the code or refresh token itself is invalid. */
const FINAL: readonly string[] = ["invalid_grant", "bad_verification_code", "bad_refresh_token"];

/**
 * Requests tokens from a token endpoint (RFC 6749, 4.1.3 and 6). Never rejects.
 *
 * The library oauth4webapi would add more lines than it replaces: it accepts an answer only after a rewrite (status
 * 200, a known `token_type`, no null members, no `id_token`, no `www-authenticate` header beside an error). It also
 * encodes `-`, `_` and `.` in Basic credentials, which some hosts do not decode, and it accepts the type `dpop` without
 * a DPoP proof.
 */
export async function askForTokens(outbound: Pick<Outbound, "post">, asking: Asking): Promise<TokenAnswer> {
  let answer: OutboundAnswer;
  try {
    answer = await postForm(outbound, asking);
  } catch (error) {
    return { ok: false, isFinal: false, reason: `the request to the host failed: ${toReason(error)}` };
  }
  if (answer.unread !== undefined) {
    return { ok: false, isFinal: false, reason: `the host's answer cannot be read: ${answer.unread.reason}` };
  }
  const read = readTokens(parseJson(answer.body) ?? readForm(answer.body));
  if (read !== null && "error" in read) return toRefusal(read.error);
  if (!isSuccess(answer)) return { ok: false, isFinal: false, reason: `the host answered ${answer.status}` };
  return read === null ? { ok: false, isFinal: false, reason: "the host answered without a bearer token" } : read;
}

/**
 * Reads the parsed answer of a token endpoint, whatever its status: some hosts answer an error with status 200. Returns
 * the tokens, otherwise the error code, which is untrusted text. Returns null if the answer has neither.
 */
export function readTokens(json: unknown): TokensRead | { readonly error: string } | null {
  const body = toTokenAnswer(json);
  const refused = errorSchema.safeParse(body);
  if (refused.success) return { error: refused.data.error };
  const parsed = tokenSchema.safeParse(body);
  if (!parsed.success) return null;
  const { access_token: access, refresh_token: refresh, expires_in: lastsSeconds, scope } = parsed.data;
  const scopes = scope === undefined ? null : scope.split(/[\s,]+/).filter((one) => one !== "");
  const tokens = { access, refresh: refresh ?? null, lastsSeconds: lastsSeconds ?? null, scopes };
  return { ok: true, tokens, response: parsed.data };
}

/** Revokes a token (RFC 7009). Returns why the revocation failed; null if it succeeded. Never rejects. */
export async function revokeToken(outbound: Pick<Outbound, "post">, asking: Asking): Promise<string | null> {
  try {
    const answer = await postForm(outbound, asking);
    return isSuccess(answer) ? null : `the host answered ${answer.status}`;
  } catch (error) {
    return `the request to the host failed: ${toReason(error)}`;
  }
}

/**
 * Normalizes a token answer: removes members that are null or blank, because hosts write these for a missing value, and
 * joins scopes into one text. Returns any value that is not an object unchanged.
 */
function toTokenAnswer(json: unknown): unknown {
  const answer = withoutEmptyMembers(json);
  // Keep empty scopes, which mean that nothing was granted.
  const scoped = z.object({ scope: z.union([z.string(), z.array(z.string()).transform((all) => all.join(" "))]) });
  const { data } = scoped.safeParse(json);
  return data === undefined ? answer : { ...Object(answer), ...data };
}

/** Parses a form-encoded answer, which older hosts send; undefined for any other text. */
function readForm(text: string): unknown {
  return /^(access_token|error)=|&(access_token|error)=/.test(text)
    ? Object.fromEntries(new URLSearchParams(text.trim()))
    : undefined;
}

function isSuccess({ status }: Pick<OutboundAnswer, "status">): boolean {
  return status >= 200 && status < 300;
}

function toRefusal(code: string): TokenAnswer {
  const reason = CODES.has(code) ? code : "an error";
  return { ok: false, isFinal: FINAL.includes(code), reason: `the host answered ${reason}` };
}

function postForm(
  outbound: Pick<Outbound, "post">,
  { url, client, parameters, signal }: Asking,
): Promise<OutboundAnswer> {
  const { clientId, clientSecret, clientAuth } = client;
  const form = new URLSearchParams(parameters);
  const headers: Record<string, string> = {
    accept: "application/json",
    "content-type": "application/x-www-form-urlencoded",
    "user-agent": "Service-Connections/1",
  };
  if (clientSecret !== null && clientAuth === "basic") {
    headers.authorization = `Basic ${Buffer.from(`${encoded(clientId)}:${encoded(clientSecret)}`).toString("base64")}`;
  } else {
    form.set("client_id", clientId);
    if (clientSecret !== null) form.set("client_secret", clientSecret);
  }
  return outbound.post({ url, headers, body: form.toString(), timeoutMs: OAUTH_REQUEST_MS, signal });
}

/** Form-encodes a part of the Basic credentials, as RFC 6749 (2.3.1) requires. */
function encoded(text: string): string {
  return new URLSearchParams({ text }).toString().slice("text=".length);
}
