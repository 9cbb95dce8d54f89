import { isRefusal, type Refusal } from "../actors/refusal.js";
import type { EdgeRefusal } from "./problem.js";

/** Ends a request in the middle of its handling. The server answers with the refusal, and nobody else catches it. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly refusal: Refusal | EdgeRefusal;

  constructor(refusal: Refusal | EdgeRefusal) {
    super(refusal.refused);
    this.refusal = refusal;
  }
}

/** What was granted of what may be refused. Throws {@link Refused} with the refusal: within a route's handling only. */
export function granted<Granted>(answer: Granted | Refusal): Granted {
  if (isRefusal(answer)) throw new Refused(answer);
  return answer;
}
