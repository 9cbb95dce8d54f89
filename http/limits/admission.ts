import type { Caller } from "../../actors/caller.js";
import type { Refusal } from "../../actors/refusal.js";
import type { Clock } from "../../runtime/clock.js";
import type { AdmissionRates } from "../wire/config.js";
import { sourceOf } from "./client-address.js";
import { RateLimit } from "./rate-limit.js";
import { shareOf } from "./sender-shares.js";

/** Admits requests by the rate limits. Each method returns null, or the refusal to answer with. */
export interface Admission {
  /** Counts a request without a valid credential, by its address's share for its audience (`sender-shares.ts`). */
  ofAddress(address: () => string, audience?: string | null): Refusal | null;
  /** Counts a request by its credential; all sessions of a person count as one. */
  ofCaller(caller: Caller): Refusal | null;
  /** Counts a refused credential; beyond the limit the answer no longer says that it was refused. */
  ofFailure(address: string): Refusal | null;
}

/** A burst may be this many seconds' worth of requests. */
const BURST_SECONDS = 10;

/** Counts in the memory of this process. */
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
      const wait = addresses.take(shareOf(sourceOf(address()), audience));
      return refusalFor(wait, "Too many requests from this address.");
    },
    ofCaller: (caller) => {
      const who = caller.kind === "person" ? caller.userId : caller.tokenId;
      return refusalFor(credentials.take(who), "Too many requests with this credential.");
    },
    ofFailure: (address) => refusalFor(failures.take(sourceOf(address)), "Too many refused credentials from here."),
  };
}

function refusalFor(waitSeconds: number, detail: string): Refusal | null {
  return waitSeconds === 0 ? null : { refused: "too-many-requests", detail, retryAfterSeconds: waitSeconds };
}
