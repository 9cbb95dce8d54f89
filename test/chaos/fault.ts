import type { Chance } from "../simulation/chance.js";
import type { Tool } from "./machine-tools.js";
import type { PlannedFault } from "./plan.js";
import type { World } from "./world.js";

/** Something that goes wrong for a while. It has taken everything back when `play` resolves. */
export interface Fault extends PlannedFault {
  /** It is left out where the machine does not have this. */
  readonly needs?: Tool;
  play(world: World, chance: Chance): Promise<void>;
}
