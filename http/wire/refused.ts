import { isRefusal, type Refusal } from "../../actors/refusal.js";
import type { EdgeRefusal } from "./problem.js";

/** Thrown to end a request with a refusal. Only the server catches it and responds with the refusal. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly refusal: Refusal | EdgeRefusal;

  constructor(refusal: Refusal | EdgeRefusal) {
    super(refusal.refused);
    this.refusal = refusal;
  }
}

/** Returns a value that is not a refusal, and throws {@link Refused} for a refusal. Use it only in route handlers. */
export function granted<Granted>(answer: Granted | Refusal): Granted {
  if (isRefusal(answer)) throw new Refused(answer);
  return answer;
}
