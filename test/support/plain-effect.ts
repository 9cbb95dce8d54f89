import type { Effect, EffectContext } from "../../runtime/cells/actor-type.js";
import { effect } from "../../runtime/effects/effect-type.js";
import type { LaneLimits } from "../../runtime/effects/lane.js";
import type { RunSignal } from "../../runtime/effects/run-signal.js";

/** Does the work of an effect in a test. */
export type PlainRun = (input: unknown, context: EffectContext & { readonly signal: RunSignal }) => Promise<unknown>;

/** A lane of so many places for whoever wants them. */
export function plainLane(places: number): LaneLimits {
  return { name: "plain", places, kept: 0, perParty: places, perTarget: places };
}

/** An effect with so many runs at once. */
export function plainEffect(name: string, places: number, run: PlainRun): Effect {
  return effect<unknown, unknown>(name).implement(plainLane(places), run);
}
