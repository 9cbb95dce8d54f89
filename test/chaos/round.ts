import { setTimeout as pause } from "node:timers/promises";
import { askDoctor } from "../processes/doctor.js";
import { createChance } from "../simulation/chance.js";
import { checkUnsettled } from "./code-host-promises.js";
import type { Fault } from "./fault.js";
import { readBack, readPullRequests } from "./findings.js";
import { type FaultTarget, toSeed } from "./plan.js";
import { listBroken } from "./promises.js";
import { readSnapshot, type StreamFollower } from "./stream-follower.js";
import type { World } from "./world.js";

/** The result of a round. */
export interface RoundReport {
  readonly acknowledged: number;
  readonly restarts: number;
  readonly isWhole: boolean;
  /** The first broken promises; empty if all hold. */
  readonly broken: readonly string[];
}

/**
 * `LOAD_MS` is the minimum duration of the load. `LONGEST_REST_MS` is the time limit for all work to end after the
 * load.
 */
const LOAD_MS = 3_000;
const LONGEST_REST_MS = 120_000;
/** How long a stream follower may lag behind. */
const LONGEST_BEHIND_MS = 20_000;
/** How far the clock is set ahead, so that every retry of a hook occurrence is due. */
const AHEAD_MS = 60 * 60 * 1_000;
const LOOK_MS = 150;
/** Maximum number of broken promises in a report. */
const TOLD = 20;

/** Plays the faults under load, waits until everything settles, runs the doctor, and checks the promises. */
export async function playRound(world: World, faults: readonly Fault[], seed: number): Promise<RoundReport> {
  const { service, ledger, load } = world;
  const before = { acknowledged: ledger.acknowledged, lives: service.lives };
  const inbox = new AbortController();
  const keeping = load.keepInbox(inbox.signal);
  const loaded = new AbortController();
  const loading = load.run(createChance(seed), loaded.signal);
  await Promise.all([pause(LOAD_MS), playFaults(world, faults, seed)]);
  loaded.abort();
  await loading;
  const stuck = await rest(async () =>
    (await load.listOpen()).map(({ id, title, state }) => `task ${id} ${title} is ${state}`),
  );
  inbox.abort();
  await keeping;
  await world.callbacksDone();
  const doctor = await examine(world, seed);
  service.stepClock(AHEAD_MS);
  await service.start();
  const waiting = await rest(() => listUndelivered(world));
  const unsettled = await rest(() => listUnsettled(world));
  await world.callbacksDone();
  const broken = [
    ...[...stuck, ...waiting, ...unsettled].map((what) => `stuck: ${what}`),
    ...doctor.map((line) => `doctor: ${line}`),
    ...(await compare(world)),
    ...ledger.complaints.splice(0),
  ];
  return {
    acknowledged: ledger.acknowledged - before.acknowledged,
    restarts: service.lives - before.lives,
    isWhole: doctor.length === 0,
    broken: broken.slice(0, TOLD),
  };
}

/** Plays faults of one target one after another, and faults of different targets concurrently. */
async function playFaults(world: World, faults: readonly Fault[], seed: number): Promise<void> {
  const targets = new Map<FaultTarget, Promise<void>>();
  for (const [index, fault] of faults.entries()) {
    const chance = createChance(toSeed(seed, index + 1));
    const before = targets.get(fault.target) ?? pause(chance.between(100, 800));
    targets.set(
      fault.target,
      Promise.resolve(before).then(() => fault.play(world, chance)),
    );
  }
  await Promise.all(targets.values());
}

/** Calls `look` repeatedly until it returns an empty list. After the time limit, returns the last list. */
async function rest(look: () => Promise<readonly string[]>, longestMs = LONGEST_REST_MS): Promise<readonly string[]> {
  const latest = performance.now() + longestMs;
  for (;;) {
    const left = await look();
    if (left.length === 0 || performance.now() > latest) return left;
    await pause(LOOK_MS);
  }
}

async function listUndelivered({ client, configured }: World): Promise<readonly string[]> {
  const lists = ["attempting", "waiting"].map((state) =>
    client.list<{ readonly id: string }>(`/api/teams/${configured.teamId}/hook-occurrences?state=${state}`),
  );
  return (await Promise.all(lists)).flat().map(({ id }) => `firing ${id} is not delivered`);
}

/**
 * Lists the service's pull requests that differ from those of the code host. After a lost delivery, they differ until
 * the service polls the code host.
 */
async function listUnsettled({ client, configured, codeHost }: World): Promise<readonly string[]> {
  await codeHost.settled();
  const pullRequests = await readPullRequests(client, configured.teamId);
  return [...checkUnsettled({ pullRequests, pulls: codeHost.pulls })];
}

/** Stops the service with SIGTERM or kills it with SIGKILL, then runs the doctor. */
async function examine({ service, ledger }: World, seed: number): Promise<readonly string[]> {
  const signal = createChance(seed).onceIn(2) ? "SIGKILL" : "SIGTERM";
  const code = await service.end(signal);
  if (signal === "SIGTERM" && code !== 0) ledger.complaints.push(`the service drained with ${code}`);
  return askDoctor(service.dataFolder);
}

async function compare(world: World): Promise<readonly string[]> {
  const { client, configured, ledger, tell, ask, tracker, codeHost, starts, followers } = world;
  const { pulls, forced } = codeHost;
  const found = await readBack(client, configured);
  const arrivals = [...tell.arrivals, ...ask.arrivals];
  const streamed = new Set(followers.flatMap(({ seen }) => [...seen]));
  return [
    ...listBroken(ledger, { ...found, arrivals, comments: tracker.comments, starts, streamed, pulls, forced }),
    ...(await compareStreams(world)),
  ];
}

/**
 * Compares each follower's state with a fresh snapshot, until all are equal or the time limit expires. Returns the
 * differences of the last comparison.
 */
async function compareStreams({ service, headers, configured, followers }: World): Promise<readonly string[]> {
  const site = { baseUrl: () => service.baseUrl, headers, teamId: configured.teamId };
  return rest(async () => {
    const wanted = await readSnapshot(site);
    return followers.flatMap(({ picture }) => listDifferences(wanted, picture));
  }, LONGEST_BEHIND_MS);
}

type Rows = StreamFollower["picture"];

function listDifferences(wanted: Rows, picture: Rows): readonly string[] {
  const known = new Map(picture.map((task) => [task.id, task]));
  return wanted.flatMap((task) => {
    const members = Object.keys(task).filter((name) => !isSame(task[name], known.get(task.id)?.[name]));
    return members.length === 0 ? [] : [`a follower of the stream has another ${members} of task ${task.id}`];
  });
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
