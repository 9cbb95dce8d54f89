import type { Job } from "../../../actors/runners/job.js";

/**
 * Whether a run may have no effect except its report: its programs get no push credentials, and its agent asks no
 * person.
 */
export function isIsolated({ replay, search }: Pick<Job, "replay" | "search">): boolean {
  return replay !== undefined || search !== undefined;
}
