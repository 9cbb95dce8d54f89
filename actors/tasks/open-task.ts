import type { Reading } from "../../storage/store.js";
import type { VisibleTeam } from "../access/members/team.queries.js";
import { refuseOpening } from "../access/members/team-work.js";
import type { Caller } from "../caller.js";
import type { LineFields } from "../lines/line.js";
import { findStation } from "../lines/line.queries.js";
import { invalid, isRefusal, type Refusal } from "../refusal.js";
import { findAttempt } from "../resources/idempotency.table.js";
import type { Idempotency } from "../resources/resource.messages.js";
import { findResourceAt } from "../resources/resource.table.js";
import { findBranchReview } from "./reviewing.js";
import type { TaskRow } from "./task.js";
import { type OpenTask, toSender } from "./task.messages.js";
import { tasks } from "./task.table.js";
import { toTaskReview, type WantedReview } from "./task-review.js";

/** A request to open a task. */
export interface WantedTask extends Pick<OpenTask, "title" | "description" | "url" | "station">, WantedReview {
  /** The line's key. */
  readonly line: string;
  /**
   * User id; null for nobody. If absent, the task is assigned to the person who opens it. A task that a token opens has
   * no default assignee.
   */
  readonly assignee?: string | null | undefined;
}

/**
 * Finds the task that an earlier request with this key opened, even if the task's line has changed since; null if there
 * is none. Refuses callers who may not open tasks in the team, and a request whose body differs from the earlier one.
 * Does not find a task that a concurrent request is opening; the task's turn finds it.
 */
export function findOpenedTask(
  reading: Reading,
  caller: Caller,
  team: VisibleTeam,
  { idempotency, nowMs }: { readonly idempotency: Idempotency; readonly nowMs: number },
): TaskRow | Refusal | null {
  const refused = refuseOpening(reading, caller, team);
  if (refused !== null) return refused;
  const earlier = findAttempt(reading, team.workspaceId, idempotency, nowMs);
  if (earlier === null || isRefusal(earlier)) return earlier;
  return tasks.get(reading, team.workspaceId, earlier.resourceId) ?? null;
}

/**
 * Builds the message that opens the task. Refuses callers who may not open tasks in the team, an unknown line or
 * station, and an invalid review target.
 */
export function toOpenTask(
  reading: Reading,
  caller: Caller,
  team: VisibleTeam,
  wanted: WantedTask,
): OpenTask | Refusal {
  const refused = refuseOpening(reading, caller, team);
  if (refused !== null) return refused;
  const { workspaceId, teamId, teamKey } = team;
  const { title, description, url, station } = wanted;
  const line = findResourceAt<LineFields>(reading, workspaceId, "line", `${teamKey}/${wanted.line}`);
  if (line === undefined) return invalid("line", `there is no line with the key ${wanted.line}`);
  if (station !== null && findStation(line.fields, station) === undefined) {
    return invalid("station", `there is no station ${station}`);
  }
  const named = toTaskReview(line.fields, wanted);
  if (isRefusal(named)) return named;
  const { branch } = wanted;
  const known = branch === undefined ? null : findBranchReview(reading, workspaceId, line.fields, branch);
  const reviews = known ?? named;
  const opener = caller.kind === "person" ? caller.userId : null;
  return {
    type: "task.open",
    teamId,
    lineId: line.id,
    title,
    description,
    url,
    station,
    assignee: wanted.assignee === undefined ? opener : wanted.assignee,
    ...toSender(caller),
    ...(reviews !== null && { reviews }),
  };
}
