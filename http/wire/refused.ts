import { isRefusal, type Refusal } from "../../actors/refusal.js";
import type { EdgeRefusal } from "./problem.js";

/** Ends the handling of a request with a refusal. Only the server catches it, and answers with the refusal. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly refusal: Refusal | EdgeRefusal;

  constructor(refusal: Refusal | EdgeRefusal) {
    super(refusal.refused);
    this.refusal = refusal;
  }
}

/** Returns an answer that is no refusal. Throws {@link Refused} for one that is; only for use in a route's handler. */
export function granted<Granted>(answer: Granted | Refusal): Granted {
  if (isRefusal(answer)) throw new Refused(answer);
  return answer;
}
