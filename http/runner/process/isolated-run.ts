import type { Job } from "../../../actors/runners/job.js";

/**
 * Whether the run is a replay or belongs to a search. In such a run, the runner pushes nothing, passes no code host
 * credentials to programs, and asks no person.
 */
export function isIsolated({ replay, search }: Pick<Job, "replay" | "search">): boolean {
  return replay !== undefined || search !== undefined;
}
