import { toChangeEntry, topic } from "../../runtime/feeds/topic.js";
import type { Key, Reading, Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import { listResources } from "../resources/resource.table.js";
import { listedTable } from "../tables/indexed-table.js";
import type { PublishingWriting } from "../tables/on-write.js";
import { derivedRows, storedAs } from "../tables/table-declaration.js";
import type { AttemptRow, HookOccurrence, HookOccurrenceListed, HookOccurrenceState } from "./hook-occurrence.js";

/**
 * The rows of a hook occurrence. Most occurrences are delivered at the first attempt. Such an occurrence writes its
 * rows only twice: the event at the start, and the last attempt at the end.
 */

/** The row that is written when a hook occurrence starts. The row's key has the team and the id. */
type StartedRow = Omit<HookOccurrence, "id">;

/**
 * The end of a hook occurrence that the loop guard did not stop. The values of this row replace the values of the
 * occurrence's {@link StartedRow}.
 */
interface EndedRow extends Pick<HookOccurrence, "state" | "code" | "refused" | "endedAt"> {
  /** Absent in end rows of earlier releases. */
  readonly reason?: string | null;
  readonly attempt: AttemptRow;
}

/** The change that subscribers of a hook occurrence receive. */
const hookOccurrenceTopic = topic<{ readonly type: "state"; readonly state: HookOccurrenceState }>("hook-occurrence");
/** The change that subscribers of a team receive about its hooks. */
const teamTopic = topic<{ readonly type: "hook" } & Pick<HookOccurrenceListed, "id" | "hook" | "on" | "state">>("team");

/** Key: `[team, hook occurrence]`. */
export const endedHookOccurrences = table<EndedRow>("hook-firing-end");
/** Key: `[team, hook occurrence]`. Value: true. Only failed occurrences. */
export const failedHookOccurrences = table<true>("hook-firing-failed");
/** Key: `[hook's id, time of the retry in milliseconds since 1970, hook occurrence]`. Only waiting occurrences. */
export const hookRetries = table<true>("hook-retry");

/**
 * Key: `[team, hook occurrence]`. Ids increase with time. The index by state omits the most common states (attempting,
 * delivered). A new occurrence publishes nothing on its own topic, because nobody can subscribe to it before it exists.
 */
export const hookOccurrences = listedTable<HookOccurrence, HookOccurrenceListed>("hook-firing", {
  under: ["teamId"],
  order: ["id"],
  listed: ({ id, hookId, hook, state, retryAt, work }) => ({
    id,
    teamId: work.teamId,
    hookId,
    hook,
    on: work.on,
    state,
    retryAt,
  }),
  indexes: {
    "hook-firing-by": ["teamId", "hook", "on"],
    "hook-firing-in": { by: ["teamId", "hook", "on", "state"], only: { state: ["waiting", "failed", "refused"] } },
    [failedHookOccurrences.name]: { by: ["teamId"], only: { state: ["failed"] } },
  },
  derived: [
    {
      ...derivedRows(hookRetries, ({ id, hookId, state, retryAt }: HookOccurrenceListed) =>
        state === "waiting" && retryAt !== null ? [[[hookId, Date.parse(retryAt), id], true]] : [],
      ),
      isSame: (before, after) => before.state !== "waiting" && after.state !== "waiting",
    },
  ],
  stored: storedAs(toStartedRow, toHookOccurrence),
  changes: ({ id, teamId, hook, on, state }, _reading, { before }) => {
    if (before?.state === state) return [];
    const own = before === null ? [] : [toChangeEntry(hookOccurrenceTopic(id), { type: "state", state })];
    // The team's stream gets no entry while a request is in progress, because the history has no new result yet.
    return state !== "attempting"
      ? [...own, toChangeEntry(teamTopic(teamId), { type: "hook", id, hook, on, state })]
      : own;
  },
});
/** Key: `[hook occurrence, n]`. All attempts, except the last one of an ended occurrence. */
export const attempts = table<AttemptRow>("hook-attempt");

export function findHookOccurrence(
  reading: Reading,
  workspaceId: string,
  teamId: string,
  id: string,
): HookOccurrence | undefined {
  return hookOccurrences.get(reading, workspaceId, teamId, id);
}

/** Finds the workspace's hook occurrence with this id, in any team; undefined if there is none. */
export function findHookOccurrenceById(reading: Reading, workspaceId: string, id: string): HookOccurrence | undefined {
  for (const team of listResources(reading, workspaceId, "team")) {
    const hookOccurrence = findHookOccurrence(reading, workspaceId, team.id, id);
    if (hookOccurrence !== undefined) return hookOccurrence;
  }
  return undefined;
}

/** Lists the attempts of a hook occurrence so far, in order. */
export function listAttempts(reading: Reading, workspaceId: string, teamId: string, id: string): AttemptRow[] {
  const ended = endedHookOccurrences.get(reading, workspaceId, teamId, id);
  const earlier = attempts.list(reading, workspaceId, [id]);
  return ended === undefined ? earlier : [...earlier, ended.attempt];
}

/** Stores the end of a hook occurrence. `before` is the occurrence's list entry before the end. */
export function storeEnded(
  writing: PublishingWriting,
  workspaceId: string,
  before: HookOccurrenceListed,
  ended: EndedRow,
): void {
  endedHookOccurrences.put(writing, workspaceId, [before.teamId, before.id], ended);
  hookOccurrences.relist(writing, workspaceId, before, { ...before, state: ended.state });
}

/** Records an attempt after which the hook occurrence continues. */
export function storeAttempt(writing: Writing, workspaceId: string, id: string, attempt: AttemptRow): void {
  attempts.put(writing, workspaceId, [id, attempt.n], attempt);
}

function toStartedRow(hookOccurrence: HookOccurrence): StartedRow {
  const { hookId, hook, work, firedAt, state, code, reason, refused, endedAt, retryAt, resends, resentAs } =
    hookOccurrence;
  return { hookId, hook, work, firedAt, state, code, reason, refused, endedAt, retryAt, resends, resentAs };
}

function toHookOccurrence(started: StartedRow, key: Key, reading: Reading): HookOccurrence {
  const [workspaceId, teamId, id] = [String(key[0]), String(key.at(-2)), String(key.at(-1))];
  const ended = endedHookOccurrences.get(reading, workspaceId, teamId, id);
  const { state, code, reason = null, refused, endedAt } = ended ?? started;
  const { hookId, hook, work, firedAt, retryAt, resends, resentAs } = started;
  // Assign each member by name: an object created by spreading takes several times the memory.
  return {
    id,
    hookId,
    hook,
    work,
    firedAt,
    state,
    code,
    reason,
    refused,
    endedAt,
    retryAt,
    resends,
    resentAs,
  };
}
