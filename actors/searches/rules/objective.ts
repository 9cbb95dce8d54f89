import type { SetHealth } from "../../replays/figures/set-health.js";

/**
 * The criterion by which a search ranks its candidates (document 2, "Searches API": `objective`): their success, or the
 * cost per run of candidates that are not worse than the live config.
 */
export const objectives = ["success", "cost"] as const;
export type Objective = (typeof objectives)[number];

/**
 * Returns the default objective: `cost` if the live config succeeds on more than 95 % of the set, otherwise `success`.
 */
export function defaultObjective({ saturation }: Pick<SetHealth, "saturation">): Objective {
  return saturation?.saturated === true ? "cost" : "success";
}
