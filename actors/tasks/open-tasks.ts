import type { RowMemory } from "../../runtime/rows/row-memory.js";
import { rowSpace } from "../../storage/keys.js";
import { listKeys } from "../../storage/list-keys.js";
import type { Change, Key, Reading } from "../../storage/store.js";
import { isOpen, openStates, type TaskRow } from "./task.js";
import { tasks } from "./task.table.js";

type OpenState = (typeof openStates)[number];

/** The index by team and state (`task.table.ts`). Its keys end with the task. */
const INDEX = "team-task-by-state";
/** Sorts after every id of a line. */
const LAST = "\uffff";
/** Number of index keys to read at a time. */
const SLICE = 1_000;

/**
 * Caches in memory the state of each open task of all workspaces, for the metrics. A task takes about 100 bytes. The
 * cache first reads a workspace's index keys. After that, each change of a task's row updates the cache.
 */
export class OpenTasks implements RowMemory {
  readonly #states = new Map<string, OpenState>();
  readonly #counts: Record<OpenState, number> = { queued: 0, running: 0, inbox: 0 };

  /** The number of open tasks by state. */
  get counts(): Readonly<Record<OpenState, number>> {
    return this.#counts;
  }

  /** Reads the index keys of a workspace's open tasks. Also reads one key for each team and state that has tasks. */
  build(reading: Reading, partition: string): void {
    for (const [team, state] of listTeamStates(reading, partition)) {
      const open = openStates.find((each) => each === state);
      if (open === undefined) continue;
      for (const key of eachKey(reading, [partition, rowSpace, INDEX, team, state]))
        this.#set(String(key.at(-1)), open);
    }
  }

  applied(changes: readonly Change[]): void {
    for (const change of changes) {
      const { key } = change;
      if (key[1] !== rowSpace || key[2] !== tasks.name) continue;
      const state = change.op === "put" ? toOpenState(change.value) : null;
      this.#set(String(key[3]), state);
    }
  }

  #set(taskId: string, state: OpenState | null): void {
    const before = this.#states.get(taskId);
    if (before !== undefined) this.#counts[before] -= 1;
    if (state === null) this.#states.delete(taskId);
    else {
      this.#states.set(taskId, state);
      this.#counts[state] += 1;
    }
  }
}

function toOpenState(value: unknown): OpenState | null {
  const task = value as Pick<TaskRow, "state">;
  return isOpen(task) ? task.state : null;
}

/** Lists the pairs of a team and a state for which there are tasks. Reads one key for each pair. */
function* listTeamStates(reading: Reading, partition: string): Generator<readonly [team: string, state: string]> {
  const prefix: Key = [partition, rowSpace, INDEX];
  for (let after: Key | undefined; ; ) {
    const [key] = listKeys(reading, { prefix, limit: 1, ...(after && { after }) });
    const [, , , team, state] = key ?? [];
    if (team === undefined || state === undefined) return;
    yield [String(team), String(state)];
    after = [...prefix, team, state, LAST];
  }
}

function* eachKey(reading: Reading, prefix: Key): Generator<Key> {
  for (let after: Key | undefined; ; ) {
    const keys = listKeys(reading, { prefix, limit: SLICE, ...(after && { after }) });
    yield* keys;
    after = keys.at(-1);
    if (keys.length < SLICE) return;
  }
}
