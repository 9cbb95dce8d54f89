import type { Job } from "../../../actors/runners/job.js";

/** Whether nothing but its report may come of a run: its programs get no credentials for pushing, and nobody is asked. */
export function isKeptIn({ replay, search }: Pick<Job, "replay" | "search">): boolean {
  return replay !== undefined || search !== undefined;
}
