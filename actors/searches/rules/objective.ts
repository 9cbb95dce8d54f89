import type { SetHealth } from "../../replays/figures/set-health.js";

/**
 * What a search ranks its candidates by (document 2, "Searches API": `objective`): how often they succeed, or what a run
 * costs of those that succeed as often as the live config.
 */
export const objectives = ["success", "cost"] as const;
export type Objective = (typeof objectives)[number];

/** The objective of a search that names none: `cost` when the live config succeeds on more than 95 % of the set. */
export function defaultObjective({ saturation }: Pick<SetHealth, "saturation">): Objective {
  return saturation?.saturated === true ? "cost" : "success";
}
