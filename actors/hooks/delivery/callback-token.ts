import { timingSafeEqual } from "node:crypto";
import type { Sealer } from "../../sealer.js";

/** Lifetime of a callback token (configuration API, Limits), in milliseconds. */
const CALLBACK_MS = 15 * 60 * 1_000;

/** The hook occurrence that a callback acts for. */
export interface CallbackBearer {
  readonly workspaceId: string;
  readonly hookOccurrenceId: string;
}

/**
 * Creates a token for the callbacks of one hook occurrence, valid for 15 minutes. The token contains the occurrence,
 * the expiry, and a digest that proves that the service created the token.
 */
export function createCallbackToken(
  sealer: Pick<Sealer, "digest">,
  of: CallbackBearer & { readonly nowMs: number },
): string {
  const claim = `${of.workspaceId}.${of.hookOccurrenceId}.${of.nowMs + CALLBACK_MS}`;
  return `${claim}.${sealer.digest(`callback ${claim}`)}`;
}

/** Finds the hook occurrence that the token acts for; null if the token is invalid or has expired. */
export function findCallbackBearer(
  sealer: Pick<Sealer, "digest">,
  token: string,
  nowMs: number,
): CallbackBearer | null {
  const claim = readClaim(sealer, token);
  return claim !== null && claim.untilMs > nowMs ? claim.bearer : null;
}

/** Returns whether the token is genuine but has expired. */
export function isExpiredCallback(sealer: Pick<Sealer, "digest">, token: string, nowMs: number): boolean {
  const claim = readClaim(sealer, token);
  return claim !== null && claim.untilMs <= nowMs;
}

/** Reads the claim of a genuine token; null for any other token. */
function readClaim(
  sealer: Pick<Sealer, "digest">,
  token: string,
): { readonly bearer: CallbackBearer; readonly untilMs: number } | null {
  const [workspaceId, hookOccurrenceId, untilMs, proof, ...rest] = token.split(".");
  if (workspaceId === undefined || hookOccurrenceId === undefined || untilMs === undefined || proof === undefined)
    return null;
  const wanted = Buffer.from(sealer.digest(`callback ${workspaceId}.${hookOccurrenceId}.${untilMs}`));
  const given = Buffer.from(proof);
  if (rest.length > 0 || given.length !== wanted.length || !timingSafeEqual(given, wanted)) return null;
  return { bearer: { workspaceId, hookOccurrenceId }, untilMs: Number(untilMs) };
}
