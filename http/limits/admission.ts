import type { Caller } from "../../actors/caller.js";
import type { Refusal } from "../../actors/refusal.js";
import type { Clock } from "../../runtime/clock.js";
import type { AdmissionRates } from "../wire/config.js";
import { toSource } from "./client-address.js";
import { RateLimit } from "./rate-limit.js";
import { toShare } from "./sender-shares.js";

/** Applies the rate limits. Each method returns null to admit the request, or the refusal to respond with. */
export interface Admission {
  /**
   * Counts a request without a valid credential, against the share of its address for this audience
   * (`sender-shares.ts`).
   */
  ofAddress(address: () => string, audience?: string | null): Refusal | null;
  /** Counts a request against its credential. All sessions of a person share one limit. */
  ofCaller(caller: Caller): Refusal | null;
  /**
   * Counts a rejected credential against the limit of the address. While the limit is exceeded, the returned refusal
   * hides whether the credential was valid.
   */
  ofFailure(address: string): Refusal | null;
}

/** Sets the maximum burst: as many requests as the rate admits in this number of seconds. */
const BURST_SECONDS = 10;

/** Creates rate limits that count in this process's memory. */
export function createAdmission(rates: AdmissionRates, clock: Clock): Admission {
  const aSecond = (max: number) => new RateLimit({ max, perMs: 1_000, burst: Math.max(1, max * BURST_SECONDS), clock });
  const credentials = aSecond(rates.perCredentialASecond);
  const addresses = aSecond(rates.perAddressASecond);
  const failures = new RateLimit({
    max: rates.failuresAMinute,
    perMs: 60_000,
    burst: rates.failuresAMinute,
    clock,
  });
  return {
    ofAddress: (address, audience = null) => {
      if (rates.perAddressASecond === 0) return null;
      const wait = addresses.take(toShare(toSource(address()), audience));
      return refusalFor(wait, "Too many requests from this address.");
    },
    ofCaller: (caller) => {
      const who = caller.kind === "person" ? caller.userId : caller.tokenId;
      return refusalFor(credentials.take(who), "Too many requests with this credential.");
    },
    ofFailure: (address) =>
      refusalFor(failures.take(toSource(address)), "Too many rejected credentials from this address."),
  };
}

function refusalFor(waitSeconds: number, detail: string): Refusal | null {
  return waitSeconds === 0 ? null : { refused: "too-many-requests", detail, retryAfterSeconds: waitSeconds };
}
