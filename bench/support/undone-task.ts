import type { BenchService } from "./bench-service.js";

interface TaskPage {
  readonly items: readonly { readonly id: string }[];
}

/** Says of one task of the team that it is queued or running; null when no task is. */
export async function findUndoneTask({ teamId, get }: BenchService): Promise<string | null> {
  for (const state of ["queued", "running"]) {
    const page = JSON.parse(await get(`/api/teams/${teamId}/tasks?state=${state}&limit=1`)) as TaskPage;
    const [task] = page.items;
    if (task !== undefined) return `${task.id} is ${state}`;
  }
  return null;
}
