import { existsSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { askDoctor } from "../processes/doctor.js";
import { type Chance, createChance } from "../simulation/chance.js";
import type { AgentStart } from "./ledger.js";
import { type FoundCopy, type FoundReplay, listBrokenReplay } from "./replay-promises.js";
import { type ReplayWorld, toId } from "./replay-world.js";

/** The size of the replay, and the number of kills during it. */
export interface ReplayPlan {
  readonly runs: number;
  readonly repeats: number;
  readonly kills: number;
}

const CEILING = { amount: 1_000, currency: "EUR" };
/** Time limit for the runs, and for the replay, to come to rest, in milliseconds. */
const LONGEST_REST_MS = 240_000;
const LOOK_MS = 250;
/**
 * The time between two kills is between `SHORTEST_KILL_MS` and `LONGEST_KILL_MS`, so that most kills occur while copies
 * run.
 */
const SHORTEST_KILL_MS = 200;
const LONGEST_KILL_MS = 4_000;

/**
 * Replays the runs of a set while the service, the runners and the agents are killed with SIGKILL. Then runs the doctor
 * and compares the service's records with the promises. Returns the broken promises.
 */
export async function playReplay(world: ReplayWorld, plan: ReplayPlan, seed: number): Promise<readonly string[]> {
  const { client, service, teamId, ledger } = world;
  const runIds = await runOriginals(world, plan.runs);
  const before = readStarts(world).length;
  const setId = await openSet(world, runIds);
  const asked = { candidate: "live", ceiling: CEILING, repeats: plan.repeats };
  const path = `/api/teams/${teamId}/replay-sets/${setId}/replays`;
  const replayId = toId(await client.post(path, asked, "start"));
  const replayPath = `/api/teams/${teamId}/replays/${replayId}`;
  const isOver = async () => isAtRest(await client.get(replayPath));
  await kill(world, plan.kills, createChance(seed));
  const isDone = await untilSo(isOver);
  const left = isDone ? [] : [`stuck: ${describe(await client.get(replayPath))}`];
  await service.end("SIGKILL");
  const doctor = await askDoctor(service.dataFolder);
  await service.start();
  const replay = (await client.get(replayPath)) as unknown as FoundReplay;
  const starts = readStarts(world).slice(before);
  const copyOf = await findCopies(world, starts);
  return [
    ...left,
    ...doctor.map((line) => `doctor: ${line}`),
    ...listBrokenReplay(replay, { runIds, repeats: plan.repeats, starts, copyOf, given: world.given }),
    ...ledger.complaints,
  ];
}

/** Creates the runs to replay, each of a different task. */
export async function runOriginals(world: ReplayWorld, count: number): Promise<readonly string[]> {
  const { client, teamId } = world;
  for (let n = 0; n < count; n++) {
    toId(await client.post(`/api/teams/${teamId}/tasks`, { title: `work-${n}`, line: "plain" }, `task-${n}`));
  }
  const areDone = await untilSo(async () => {
    const found = await client.list(`/api/teams/${teamId}/tasks?state=done&limit=200`);
    return found.length === count;
  });
  if (!areDone) throw new Error("the runs to be repeated did not end");
  return readStarts(world).map(({ runId }) => runId);
}

export async function openSet({ client, teamId, line }: ReplayWorld, runIds: readonly string[]): Promise<string> {
  const path = `/api/teams/${teamId}/lines/${line.id}/stations/${line.stationId}/replay-sets`;
  const setId = toId(await client.post(path, { name: "Chaos" }, "set"));
  for (const runId of runIds) {
    const added = await client.post(`/api/teams/${teamId}/replay-sets/${setId}/entries`, { runId }, `add-${runId}`);
    if (added.status !== 204) throw new Error(`adding a run answered ${added.status} ${JSON.stringify(added.body)}`);
  }
  return setId;
}

/** Kills processes with SIGKILL: alternately the service, and a runner or a living agent. */
export async function kill(world: ReplayWorld, kills: number, chance: Chance): Promise<void> {
  for (let n = 0; n < kills; n++) {
    await pause(chance.between(SHORTEST_KILL_MS, LONGEST_KILL_MS));
    if (n % 2 === 0) await world.service.restart();
    else if (chance.onceIn(2)) await chance.pick(world.hosts).restart();
    else killAgent(world, chance);
  }
}

function killAgent(world: ReplayWorld, chance: Chance): void {
  const living = readStarts(world).filter(({ pid }) => isAgent(world, pid));
  if (living.length > 0) process.kill(chance.pick(living).pid, "SIGKILL");
}

function isAgent({ folder }: ReplayWorld, pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`${folder}/agent.sh`);
  } catch {
    return false;
  }
}

export function readStarts({ startsFile }: ReplayWorld): readonly AgentStart[] {
  const lines = existsSync(startsFile) ? readFileSync(startsFile, "utf8").trim().split("\n") : [];
  return lines.map((line) => {
    const [pid = "", runId = "", taskId = ""] = line.split(" ");
    return { pid: Number(pid), runId, taskId };
  });
}

/** Whether the replay has ended and no second look is in progress. */
function isAtRest(replay: Readonly<Record<string, unknown>> | null): boolean {
  const { state, entries } = replay as unknown as FoundReplay;
  return state === "finished" && !entries.some(isOpen);
}

function isOpen({ result, judge, secondJudge }: FoundCopy): boolean {
  return result === null || (judge.reasons.length > 0 && secondJudge === null);
}

/** Describes the replay's state and its open copies. */
function describe(replay: Readonly<Record<string, unknown>> | null): string {
  const { state, entries } = replay as unknown as FoundReplay;
  const open = entries.filter(isOpen).map(({ originalRunId, repeat, state: of, result, secondJudge }) => {
    return `${originalRunId} ${repeat} is ${of}, ${result}${secondJudge === null ? ", not judged again" : ""}`;
  });
  return `the replay is ${state}, ${JSON.stringify(replay?.progress)}; ${open.slice(0, 10).join("; ")}`;
}

async function findCopies({ client, teamId }: ReplayWorld, starts: readonly AgentStart[]) {
  const found = new Map<string, { readonly originalRunId: string; readonly repeat: number } | null>();
  for (const { runId } of starts) {
    const answer = await client.get(`/api/teams/${teamId}/replay-runs/${runId}/replay`);
    found.set(runId, (answer?.result ?? null) as { originalRunId: string; repeat: number } | null);
  }
  return found;
}

export async function untilSo(isSo: () => Promise<boolean>): Promise<boolean> {
  for (const latestMs = performance.now() + LONGEST_REST_MS; performance.now() < latestMs; await pause(LOOK_MS)) {
    if (await isSo()) return true;
  }
  return false;
}
