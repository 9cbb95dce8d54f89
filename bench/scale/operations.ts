import { connectRunner } from "../shape/instant-runner.js";
import { HEARD, HOOK, QUIET } from "./seed.js";
import type { Served } from "./served.js";

/** An operation measured in stores of different sizes. */
export interface Operation {
  readonly name: string;
  /** How often the operation is repeated in a round. */
  readonly count: number;
  /** Called before each round; not measured. */
  readonly prepare?: (side: Side) => Promise<unknown>;
  readonly work: (side: Side, round: number) => Promise<unknown>;
}

/** A service on a store, with ids of tasks from the whole period. */
export interface Side {
  readonly size: number;
  readonly served: Served;
  readonly taskIds: readonly string[];
}

const READS = 1_000;
const LISTS = 100;
const WRITES = 150;
const WORKED = 60;
const FOLDS = 40;
/** Index in {@link taskOperations} of the first operation that writes. */
const FIRST_WRITE = 9;

/** The operations that are measured in a store of tasks, in this order. */
export const taskOperations: readonly Operation[] = [
  reads("a task read", (side, n) => `/api/tasks/${side.taskIds[n % side.taskIds.length]}`, READS),
  lists("tasks, the first page", "tasks?limit=50"),
  lists("tasks by state, ten", "tasks?limit=10&state=inbox"),
  lists("tasks by line, the first page", `tasks?limit=50&line=${HEARD}`),
  lists(
    "tasks by line, state and assignee",
    (side) => `tasks?limit=50&line=${HEARD}&state=done&assignee=${side.served.seed.userId}`,
  ),
  lists("hook occurrences, the first page", "hook-occurrences?limit=50"),
  lists("hook occurrences that failed, ten", `hook-occurrences?limit=10&hook=${HOOK}&state=failed`),
  lists("events, the first page", "events?limit=50"),
  reads("the runs of a task", (side, n) => `/api/tasks/${side.taskIds[n % side.taskIds.length]}/runs`, READS),
  {
    name: "a resource created",
    count: WRITES,
    work: ({ served, size }, round) =>
      served.send(WRITES, (n) => ({
        method: "POST",
        path: `/api/resources/workspaces/${served.seed.workspaceId}/secrets`,
        status: 201,
        body: { name: `key-${size}-${round}-${n}`, value: "0123456789abcdef", valueVersion: 1 },
      })),
  },
  opens("a task opened, its hook delivered", HEARD, WORKED),
  { ...opens("a task opened, and queued", QUIET, WORKED), prepare: workOff },
  // Works on the tasks that the previous operation opened.
  { name: "a run from its claim to its end, its task done", count: WORKED, work: workOff },
  { name: "run facts of 7 days, as many in each", count: FOLDS, work: (side) => fold(side, 7) },
  { name: "run facts of 180 days, as many in each", count: FOLDS, work: (side) => fold(side, 180) },
];

function reads(name: string, path: (side: Side, n: number) => string, count: number): Operation {
  const work = (side: Side) => side.served.send(count, (n) => ({ method: "GET", path: path(side, n), status: 200 }));
  return { name, count, work };
}

function lists(name: string, list: string | ((side: Side) => string)): Operation {
  return reads(
    name,
    (side) => `/api/teams/${side.served.seed.teamId}/${typeof list === "string" ? list : list(side)}`,
    LISTS,
  );
}

function opens(name: string, line: string, count: number): Operation {
  return { name, count, work: (side, round) => open(side, line, { round, count }) };
}

function open({ served }: Side, line: string, { round, count }: { readonly round: number; readonly count: number }) {
  const path = `/api/teams/${served.seed.teamId}/tasks`;
  const description = "What happens, what should happen, and how to see it. ".repeat(10);
  return served.send(count, (n) => ({
    method: "POST",
    path,
    status: 201,
    body: { title: `Task ${round}-${n}`, description, line },
  }));
}

/** Starts a runner with one slot, and waits until the runner has worked through the queue. */
async function workOff({ served }: Side): Promise<void> {
  const runner = await connectRunner(served.port, served.seed.poolToken);
  runner.offer(1);
  for (const state of ["queued", "running"]) {
    for (;;) {
      await served.tell({ type: "settle" });
      const path = `/api/teams/${served.seed.teamId}/tasks?state=${state}&limit=1`;
      const page = JSON.parse(await served.send(1, () => ({ method: "GET", path, status: 200 }))) as {
        items: unknown[];
      };
      if (page.items.length === 0) break;
    }
  }
  runner.close();
}

function fold({ served }: Side, days: number): Promise<unknown> {
  const { workspaceId, steadyTeamId: teamId } = served.seed;
  return served.tell({ type: "facts", workspaceId, teamId, days, times: FOLDS });
}

/** The operations in a store with many workspaces. Each operation uses one of the workspaces. */
export const workspaceOperations: readonly Operation[] = [
  reads("a workspace read", ({ served: { seed } }) => `/api/resources/workspaces/${seed.workspaceId}`, READS),
  reads("its teams listed", ({ served: { seed } }) => `/api/resources/workspaces/${seed.workspaceId}/teams`, READS),
  reads("the session, with its workspaces", () => "/api/sessions/me", READS),
  ...taskOperations.slice(FIRST_WRITE, FIRST_WRITE + 4),
];
