import type { Chance } from "../simulation/chance.js";
import type { Tool } from "./machine-tools.js";
import type { PlannedFault } from "./plan.js";
import type { World } from "./world.js";

/** A temporary fault. When `play` resolves, the fault is completely undone. */
export interface Fault extends PlannedFault {
  /** The machine's tool that the fault needs; without the tool, the fault is skipped. */
  readonly needs?: Tool;
  play(world: World, chance: Chance): Promise<void>;
}
