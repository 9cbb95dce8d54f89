import type { BenchService } from "./bench-service.js";

interface TaskPage {
  readonly items: readonly { readonly id: string }[];
}

/** Describes one queued or running task of the team; null if there is none. */
export async function findUndoneTask({ teamId, get }: BenchService): Promise<string | null> {
  for (const state of ["queued", "running"]) {
    const page = JSON.parse(await get(`/api/teams/${teamId}/tasks?state=${state}&limit=1`)) as TaskPage;
    const [task] = page.items;
    if (task !== undefined) return `${task.id} is ${state}`;
  }
  return null;
}
