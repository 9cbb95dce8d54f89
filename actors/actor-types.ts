import type { ActorType } from "../runtime/actor-type.js";

/** Every machine of the product. */
export const actorTypes: readonly ActorType[] = [];
