import type { Caller } from "../../actors/caller.js";
import type { Refusal } from "../../actors/refusal.js";
import type { Clock } from "../../runtime/clock.js";
import { sourceOf } from "./client-address.js";
import { RateLimit } from "./rate-limit.js";

/** The bounds on how often someone may ask; 0 is no bound. */
export interface AdmissionRates {
  readonly perCredentialASecond: number;
  readonly perAddressASecond: number;
  /** Requests of an address that end with 401. */
  readonly failuresAMinute: number;
}

/** Who is let in, by how much they asked of late. Each gives null, or the refusal to answer with. */
export interface Admission {
  /** Counts a request of an address that came without a good credential. */
  ofAddress(address: string): Refusal | null;
  /** Counts a request of a credential: all sessions of a person are one. */
  ofCaller(caller: Caller): Refusal | null;
  /** Counts a credential that was refused; too many are not even told that. */
  ofFailure(address: string): Refusal | null;
}

/** Seconds' worth of requests that may come at once. */
const BURST_SECONDS = 10;

/** Keeps the counts in memory, for this process. */
export function createAdmission(rates: AdmissionRates, clock: Clock): Admission {
  const aSecond = (max: number) => new RateLimit({ max, perMs: 1_000, burst: Math.max(1, max * BURST_SECONDS), clock });
  const credentials = aSecond(rates.perCredentialASecond);
  const addresses = aSecond(rates.perAddressASecond);
  const failures = new RateLimit({
    ...{ max: rates.failuresAMinute, perMs: 60_000, burst: rates.failuresAMinute, clock },
  });
  return {
    ofAddress: (address) => refusalFor(addresses.take(sourceOf(address)), "Too many requests from this address."),
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
