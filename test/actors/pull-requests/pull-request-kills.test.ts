import t from "tap";
import { events } from "../../../actors/events/event-log.table.js";
import { pullRequests } from "../../../actors/pull-requests/pull-request.table.js";
import { pullRequestFacts } from "../../../actors/run-facts/pull-request-fact.table.js";
import { runFacts } from "../../../actors/run-facts/run-fact.table.js";
import { taskBranches } from "../../../actors/runs/task-branch.table.js";
import { tasks } from "../../../actors/tasks/task.table.js";
import { effectSpace, undeliveredSpace } from "../../../storage/keys.js";
import { type Played, PullRequestWorld } from "../../support/pull-request-world.js";
import { teamId, workspaceId } from "../../support/work.js";

interface Kill {
  readonly commit: number;
  readonly when: "before" | "after";
}

const MAX_ROUNDS = 40;

const isOver = ({ harness: { durable } }: PullRequestWorld) =>
  events.list(durable, workspaceId).some(({ on }) => on === "pull-request.merged");

/**
 * Runs the scenario from the task's opening to its merge, with a kill. Returns the violated invariants, or null if the
 * scenario ends before the kill's commit.
 */
async function play(played: Played, kill: Kill): Promise<readonly string[] | null> {
  const world = await PullRequestWorld.open(played);
  const { harness } = world;
  harness.killAt = { ...kill, commit: harness.batches.length + kill.commit };
  const last = harness.killAt.commit;
  for (let round = 0; !isOver(world) && harness.batches.length < last && round < MAX_ROUNDS; round++)
    await world.round();
  if (harness.batches.length < last) return isOver(world) ? null : ["it is never over"];
  harness.killAt = null;
  harness.crash();
  await world.start();
  for (let round = 0; !isOver(world) && round < MAX_ROUNDS; round++) await world.round();
  await world.round();
  return findWrong(world).map((what) => `killed ${kill.when} commit ${kill.commit}: ${what}`);
}

function findWrong({ harness: { durable }, pulls, pushed }: PullRequestWorld): readonly string[] {
  const task = tasks.get(durable, workspaceId, "task_1");
  const rows = pullRequests.list(durable, workspaceId);
  const [branch] = taskBranches.list(durable, workspaceId);
  const merged = events.list(durable, workspaceId).filter(({ on }) => on === "pull-request.merged");
  const facts = pullRequestFacts.list(durable, workspaceId, [teamId]);
  const outcomes = runFacts.list(durable, workspaceId, [teamId]).map(({ taskOutcome }) => taskOutcome);
  const left = [effectSpace, undeliveredSpace].flatMap((space) => durable.range({ prefix: [workspaceId, space] }));
  const told = { task: `${task?.state} ${task?.pullRequest?.state}`, rows: rows.map(({ state }) => state).join() };
  const found = {
    ...told,
    pulls: pulls.length,
    pushed: pushed.size,
    merged: merged.length,
    left: left.length,
    facts: facts.map(({ state }) => state).join(),
    outcomes: outcomes.join(),
    branch: branch?.pullRequestId ?? null,
  };
  const wanted = {
    task: "done merged",
    rows: "merged",
    pulls: 1,
    pushed: 1,
    merged: 1,
    left: 0,
    facts: "merged",
    outcomes: "accepted",
    branch: null,
  };
  const [is, should] = [found, wanted].map((each) => JSON.stringify(each));
  return is === should ? [] : [String(is)];
}

const scenes: Readonly<Record<string, Played>> = {
  "a pull request": {},
  "one whose first push is not made": { rejects: 1 },
  "one that the code host does not open at first": { refusals: 2 },
  "one that is closed and opened again": { becomes: ["closed", "open", "merged"] },
};

for (const [name, played] of Object.entries(scenes)) {
  t.test(`${name}, killed at any commit up to its merge, is pushed, opened and told once`, async (t) => {
    const wrong: string[] = [];
    let kills = 0;
    for (const when of ["before", "after"] as const) {
      for (let commit = 1; wrong.length < 5; commit++) {
        const found = await play(played, { commit, when });
        if (found === null) break;
        wrong.push(...found);
        kills += 1;
      }
    }
    t.same(wrong, []);
    t.ok(kills >= 70, `${kills} kills`);
  });
}
