import type { Job } from "../../../actors/runners/job.js";

/**
 * Whether the run is a replay or belongs to a search. Such a run has no effect except its report: its programs get no
 * push credentials, and its agent asks no person.
 */
export function isIsolated({ replay, search }: Pick<Job, "replay" | "search">): boolean {
  return replay !== undefined || search !== undefined;
}
