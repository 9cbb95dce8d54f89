/** Why a search stopped searching (document 2, "Search": `ending`). */
export const searchEndings = [
  "iterations-used",
  "ceiling",
  "no-proposals",
  "no-improvement",
  "nothing-to-improve",
  "no-config-cause",
  "agent-failed",
  "config-changed",
  "station-left",
  "seed-failed",
  "stopped",
] as const;
export type SearchEnding = (typeof searchEndings)[number];

const STOPPED: readonly SearchEnding[] = ["seed-failed", "station-left", "stopped"];

/** Returns the state that a search ends in: `stopped` for endings after which no held-out replay starts. */
export function endState(ending: SearchEnding): "finished" | "stopped" {
  return STOPPED.includes(ending) ? "stopped" : "finished";
}
