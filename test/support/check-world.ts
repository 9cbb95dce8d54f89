import { isDeepStrictEqual } from "node:util";
import type { ReplayCheckRow } from "../../actors/checks/check.js";
import { type CheckStarted, replayCheckRef } from "../../actors/checks/check.messages.js";
import { replayChecks } from "../../actors/checks/check.table.js";
import { replayCheckResults } from "../../actors/checks/check-result.table.js";
import { readSides } from "../../actors/checks/check-sides.js";
import { decide } from "../../actors/checks/verdict.js";
import { isRefusal, type Refusal } from "../../actors/refusal.js";
import { replayWatchers } from "../../actors/replays/replay/replay-watcher.table.js";
import { runs } from "../../actors/runs/run.table.js";
import type { Message } from "../../runtime/turns/turn.js";
import { type GivenJob, ReplayWorld, type ReplayWorldOptions } from "./replay-world.js";
import { line, lineId, teamId, workspaceId } from "./work.js";

const caller = { kind: "person", userId: "usr_1", email: "usr_1@example.com", sessionId: "ses_1" } as const;

/** Returns options for a world whose line has check terms; by default, no task may regress. */
export function checkedLine(terms: object = {}): Pick<ReplayWorldOptions, "line"> {
  return { line: { replayCheck: { mostRegressions: 0, minGain: 0.05, ceiling: 100, currency: "EUR", ...terms } } };
}

/** Opens a replay world with a set that guards its station. */
export async function openCheckWorld({ line: fields, ...options }: ReplayWorldOptions = {}): Promise<ReplayWorld> {
  const world = await ReplayWorld.open({ ...checkedLine(), ...(fields && { line: fields }), ...options });
  await guard(world);
  return world;
}

/** Marks the set as a guard of its station. */
export async function guard(world: ReplayWorld): Promise<void> {
  const marked = await world.askSets({ type: "guard.mark", setId: world.setId, guardsChanges: true });
  if (isRefusal(marked)) throw new Error(JSON.stringify(marked));
}

let asked = 0;

/** Requests a check of a planned prompt, under a new id. */
export async function tryCheck(
  world: ReplayWorld,
  { repeats = 1, prompt = "Another", ...more }: Readonly<Record<string, unknown>> = {},
): Promise<CheckStarted | Refusal> {
  asked += 1;
  const { id: _id, ...block } = line.stations[0] ?? {};
  const message = {
    type: "check.start",
    caller,
    client: null,
    teamId,
    lineId,
    stationKey: "work",
    planned: { data: { station: { ...block, prompt }, repositories: null } },
    terms: { data: { reference: { commit: null, pullRequest: 7 }, repeats } },
    ...more,
  };
  const to = replayCheckRef(workspaceId, `check_${String(asked).padStart(6, "0")}`);
  return (await world.harness.ask(to, message as Message)) as CheckStarted | Refusal;
}

export async function startCheck(world: ReplayWorld, of: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const answer = await tryCheck(world, of);
  if (isRefusal(answer)) throw new Error(JSON.stringify(answer));
  return answer.checkId;
}

/** Returns all checks, oldest first. */
export function allChecks(world: ReplayWorld): readonly ReplayCheckRow[] {
  return replayChecks.list(world.harness.durable, workspaceId);
}

export function toCheck(world: ReplayWorld, id: string): ReplayCheckRow {
  const row = replayChecks.get(world.harness.durable, workspaceId, id);
  if (row === undefined) throw new Error(`there is no check ${id}`);
  return row;
}

/**
 * Works on all jobs that the runner has now, and returns the number of jobs. `fails` decides whether the agents of a
 * replay fail.
 */
export async function workJobs(
  world: ReplayWorld,
  fails: (replayId: string) => boolean = () => false,
): Promise<number> {
  const jobs = world.jobs();
  for (const job of jobs) await workJob(world, job, fails);
  return jobs.length;
}

async function workJob(world: ReplayWorld, job: GivenJob, fails: (replayId: string) => boolean): Promise<void> {
  const replayId = runs.get(world.harness.durable, workspaceId, job.runId)?.owner.id ?? "";
  const failure = { code: "harness-failed", message: "It gave up.", output: "" } as const;
  await world.work(job, 1, fails(replayId) ? { outcome: "failed", failure } : {});
}

/** Returns the violated invariants of checks. Call it only once all replays have ended and nothing runs. */
export function checkComplaints(world: ReplayWorld): readonly string[] {
  const { durable } = world.harness;
  const pins = durable.range({ prefix: [workspaceId, "row", "pin"] });
  const pinned = pins.filter(({ key }) => String(key.at(-1)).startsWith("check_"));
  const watching = replayWatchers.list(durable, workspaceId);
  return [
    ...allChecks(world).flatMap((row) => complaintsAbout(world, row)),
    ...pinned.map(({ key }) => `${key.join(" ")} is pinned`),
    ...watching.map(({ replayId }) => `${replayId} is watched`),
  ];
}

function complaintsAbout(world: ReplayWorld, row: ReplayCheckRow): readonly string[] {
  const { durable } = world.harness;
  const { verdict, regressed, compared } = decide(readSides(durable, workspaceId, row), row.threshold.mostRegressions);
  const { verdict: known, regressed: lost, compared: scored, decidedAt, endedAt } = row;
  const result = replayCheckResults.get(durable, workspaceId, row.id);
  return [
    ...(isDeepStrictEqual([verdict, regressed, compared], [known, lost, scored])
      ? []
      : [`it is ${known}, not ${verdict}`]),
    ...(decidedAt === null || endedAt === null ? ["it has not ended"] : []),
    ...(result?.regressions.length === regressed ? [] : ["what it found was not kept"]),
  ].map((complaint) => `${row.id}: ${complaint}`);
}
