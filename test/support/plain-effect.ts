import type { Effect, EffectContext } from "../../runtime/cells/actor-type.js";
import { effect } from "../../runtime/effects/effect-type.js";
import type { LaneLimits } from "../../runtime/effects/lane.js";
import type { RunSignal } from "../../runtime/effects/run-signal.js";

/** Runs an effect in a test. */
export type PlainRun = (input: unknown, context: EffectContext & { readonly signal: RunSignal }) => Promise<unknown>;

/** Returns the limits of a lane that runs this many effects at a time, over all partitions. */
export function plainLane(places: number): LaneLimits {
  return { name: "plain", places, kept: 0, perClient: places, perTarget: places };
}

/** Returns an effect that can run `places` times at once. */
export function plainEffect(name: string, places: number, run: PlainRun): Effect {
  return effect<unknown, unknown>(name).implement(plainLane(places), run);
}
