import type { Turn } from "../../runtime/turns/turn.js";
import type { Reading } from "../../storage/store.js";
import { findReachingConnection } from "../code-host/connection.queries.js";
import { runConfig, toFingerprint } from "../lines/fingerprint.js";
import { type LineFields, pullRequestTerms } from "../lines/line.js";
import { findLine, findStation, laterStations } from "../lines/line.queries.js";
import { getRunSetup, storeSkills } from "../lines/run-setup.js";
import type { Station } from "../lines/station.js";
import { findResourceAt } from "../resources/resource.table.js";
import { getTeamKey } from "../resources/resource-indexes.table.js";
import { toTakenBranch } from "../runners/push.js";
import type { RunNeeds } from "../runners/runner.table.js";
import { freezeTools } from "../runs/frozen-tools.js";
import { runRef, type StartRun } from "../runs/run.messages.js";
import type { InputCheckout, RunBeginning } from "../runs/run-input.table.js";
import { findTaskBranch } from "../runs/task-branch.table.js";
import type { TaskRow } from "./task.js";
import { taskRef } from "./task.messages.js";
import { taskCheckouts } from "./task.table.js";

/** Queues a run at the task's station, with the station's current config. Returns the run's id. */
export function queueNextRun(turn: Turn, task: TaskRow): string {
  const workspaceId = turn.self.partition;
  const { teamId, lineId } = task;
  const line = findLine(turn, workspaceId, lineId);
  const station = findStation(line, task.station);
  if (line === undefined || station === undefined) throw new Error("a task at a station that is not there");
  const runId = turn.newId("run");
  const location = { workspaceId, teamKey: getTeamKey(turn, workspaceId, teamId) };
  storeSkills(turn, location, station.skills);
  const config = runConfig(line, station, getRunSetup(turn, location, station));
  const tools = freezeTools(turn, location, station);
  const start: StartRun = {
    type: "run.start",
    owner: { kind: "task", id: task.id },
    ownerAddress: taskRef(workspaceId, task.id),
    teamId,
    lineId,
    stationId: station.id,
    stationKey: station.key,
    config,
    fingerprint: toFingerprint(config),
    beginning: {
      ...getBeginning(turn, task, line, station),
      ...(tools && { tools }),
      ...(task.reviews === undefined && mayPush(turn, line) && { push: true }),
    },
    needs: toRunNeeds(turn, station),
  };
  turn.send(runRef(workspaceId, runId), start);
  return runId;
}

/** Returns the starting point of the next run; see {@link nextCheckout}. */
function getBeginning(turn: Turn, task: TaskRow, line: LineFields, station: Station): RunBeginning {
  const { key, name, passesTo } = station;
  return {
    line: { key: line.key, name: line.name },
    station: { name, passesTo, next: laterStations(line, key, passesTo) },
    checkouts: line.repositories.map(({ name }) => nextCheckout(turn, turn.self.partition, task, name)),
  };
}

/** Whether the line opens pull requests and an installation of the code host reaches one of the line's repositories. */
function mayPush(turn: Turn, line: LineFields): boolean {
  if (pullRequestTerms(line).open === "never") return false;
  return line.repositories.some(({ name }) => findReachingConnection(turn, turn.self.partition, name) !== undefined);
}

/**
 * Returns the station's requirements for a runner. If the station's pool was deleted, the requirements name the pool's
 * key, which matches no pool id.
 */
export function toRunNeeds(
  turn: Turn,
  { runners: { pool, labels }, harness }: Pick<Station, "runners" | "harness">,
): RunNeeds {
  const poolId = pool === null ? null : (findResourceAt(turn, turn.self.partition, "runner-pool", pool)?.id ?? pool);
  return { poolId, labels, harness };
}

/**
 * Returns the starting point of the task's next run in a repository:
 *
 * | the task in this repository               | its next run starts at                                                |
 * |-------------------------------------------|-----------------------------------------------------------------------|
 * | reviews a branch or pull request          | the head of that branch or pull request                               |
 * | has a branch that was pushed to           | the branch's head, with people's commits. The base is merged in if    |
 * |                                           | it conflicts. If the branch is missing: as in the next row            |
 * | has changes, but no such branch           | the commit and the changes of the task's last completed run           |
 * | had its pull request merged               | the head of the branch that received the merge                        |
 * | is new                                    | the head of the task's `branch`, or else of the default branch        |
 *
 * At the code host, people can choose a base whose branch name runners reject. The service does not merge such a base
 * in. After a merge into such a base, the run starts at the default branch.
 */
export function nextCheckout(
  reading: Reading,
  partition: string,
  task: Pick<TaskRow, "id" | "branch" | "reviews">,
  repository: string,
): InputCheckout {
  const { reviews } = task;
  if (reviews !== undefined && (reviews.repository ?? repository) === repository) {
    return { repository, base: null, diff: null, branch: reviews.ref };
  }
  const storedCheckout = taskCheckouts.get(reading, partition, task.id, repository);
  const known = { repository, base: storedCheckout?.base ?? null, diff: storedCheckout?.digest ?? null };
  const pushed = findTaskBranch(reading, partition, { taskId: task.id, repository });
  if (pushed === undefined) return storedCheckout === undefined ? { ...known, ...toStart(task.branch) } : known;
  const { branch, head, isDirty, pullRequestId } = pushed;
  const base = toTakenBranch(pushed.base);
  if (head !== null) {
    const merged = pushed.base === null ? "HEAD" : base;
    return { ...known, branch, ...(isDirty && merged !== null && { merges: { branch: merged, commit: null } }) };
  }
  return pullRequestId === null ? { repository, base: null, diff: null, ...toStart(base ?? undefined) } : known;
}

function toStart(branch: string | undefined): Pick<InputCheckout, "branch"> {
  return branch === undefined ? {} : { branch };
}
