import { randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { LEFT_OUT } from "../../../actors/hooks/delivery/recorded-headers.js";
import { isSigningSecret } from "../../../actors/hooks/signing-secret.js";
import { CommandError, exitCodes } from "../command/exit-codes.js";
import { parseHttpAddress } from "../command/http-address.js";
import type { Firing } from "./hook-names.js";

type Attempt = Firing["attempts"][number];

/** A request of a firing, as the history shows it. */
export interface Forwardable {
  readonly step: string;
  /** The `webhook-id`, which is the same for each attempt of a step. */
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The result of a forwarded request. */
export interface Forwarded {
  /** The status of the answer; null if there was none. */
  readonly status: number | null;
  /** Why there was no answer; null if there was one. */
  readonly error: string | null;
}

const TIMEOUT_MS = 30_000;

/**
 * Parses the address to which requests are forwarded. Throws a {@link CommandError} if the address is not http or
 * https, or has a user name or password.
 */
export function toTarget(text: string): string {
  const url = parseHttpAddress(text);
  if (url !== null) return url.href;
  throw new CommandError(
    "--forward takes an http or https address without a user name or password, such as http://localhost:3000",
    exitCodes.usage,
  );
}

/** Creates a signing secret of Standard Webhooks. */
export function createSecret(): string {
  return `whsec_${randomBytes(24).toString("base64")}`;
}

/**
 * Returns the given signing secret. Throws a {@link CommandError} unless it is `whsec_` and 24 to 64 bytes in base64.
 */
export function toSecret(text: string): string {
  if (isSigningSecret(text)) return text;
  throw new CommandError("--secret takes whsec_ and 24 to 64 bytes in base64", exitCodes.usage);
}

/**
 * Returns the request of an attempt, or why there is nothing to forward. The history keeps the first 16 KiB of a body.
 * All bodies are JSON, so a body that does not parse was cut.
 */
export function toForwardable({ step, url, requestHeaders, requestBody, reason }: Attempt): Forwardable | string {
  const { "webhook-id": id } = requestHeaders;
  if (url === null || requestBody === null) return reason ?? "its request could not be written";
  if (id === undefined) return "it calls a tool, and sends no request to a receiver";
  if (!isJson(requestBody)) return "its body has more than 16 KiB, of which the history keeps the start";
  const shown = Object.entries(requestHeaders).filter(([, value]) => value !== LEFT_OUT);
  return { step, id, headers: Object.fromEntries(shown), body: requestBody };
}

/**
 * Sends a request to the address, signed with the secret and the current time. Follows no redirect, so that the request
 * reaches only the given address, and ignores the content of the answer.
 */
export async function forward(
  { id, headers, body }: Forwardable,
  { target, secret, signal }: { readonly target: string; readonly secret: string; readonly signal: AbortSignal },
): Promise<Forwarded> {
  const now = new Date();
  const signed = {
    ...headers,
    "webhook-timestamp": String(Math.floor(now.getTime() / 1_000)),
    "webhook-signature": new Webhook(secret).sign(id, now, body),
  };
  try {
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const answer = await fetch(target, {
      method: "POST",
      headers: signed,
      body,
      redirect: "manual",
      signal: AbortSignal.any([signal, timeout]),
    });
    await answer.body?.cancel();
    return { status: answer.status, error: null };
  } catch (error) {
    if (signal.aborted) throw error;
    return { status: null, error: toReason(error) };
  }
}

function toReason(error: unknown): string {
  const { cause, message } = error instanceof Error ? error : new Error(String(error));
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : null;
  return code ?? message;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
