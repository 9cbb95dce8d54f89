import { readlinkSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { Chance } from "../simulation/chance.js";
import type { Fault } from "./fault.js";
import type { Host } from "./host.js";
import { BEYOND_LEASE_MS, type World } from "./world.js";

const target = "runners";
/**
 * To find a runner with a living agent, a fault makes up to `MOST_LOOKS` attempts, with `LOOK_MS` between them. Each
 * attempt checks the latest `LATEST_STARTS` agents.
 */
const MOST_LOOKS = 40;
const LOOK_MS = 50;
const LATEST_STARTS = 20;

/** Faults of runners, their network and their agents. */
export const runnerFaults: readonly Fault[] = [
  { name: "runner killed", target, play: killed },
  { name: "runner stopped", target, play: stopped },
  { name: "agent killed", target, play: agentKilled },
  { name: "runner cut off", target, play: cutOff },
  { name: "runner asleep", target, play: asleep },
];

/** Kills one runner with SIGKILL and starts it again. The other runner keeps running. */
async function killed(world: World, chance: Chance): Promise<void> {
  const { restart } = await hostAtWork(world, chance);
  await pause(chance.between(0, 300));
  await restart();
}

/** Returns a runner that has a living agent. If no runner has one after several attempts, returns any runner. */
async function hostAtWork(world: World, chance: Chance): Promise<Host> {
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    for (const { pid } of world.starts.toReversed().slice(0, LATEST_STARTS)) {
      const host = world.isAgent(pid)
        ? world.hosts.find(({ folder }) => toFolder(pid).startsWith(`${folder}/`))
        : undefined;
      if (host !== undefined) return host;
    }
    await pause(LOOK_MS);
  }
  return chance.pick(world.hosts);
}

function toFolder(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return "";
  }
}

/** Stops the runner for longer than its lease. The runner's agents keep running. */
async function stopped(world: World, chance: Chance): Promise<void> {
  const { process: runner } = await hostAtWork(world, chance);
  runner.signal("SIGSTOP");
  await pause(BEYOND_LEASE_MS);
  runner.signal("SIGCONT");
}

/** Kills a living agent, one to five times. */
async function agentKilled(world: World, chance: Chance): Promise<void> {
  for (let n = chance.between(1, 5); n > 0; n--) {
    await pause(chance.between(50, 600));
    const living = world.starts.filter(({ pid }) => world.isAgent(pid));
    if (living.length > 0) process.kill(chance.pick(living).pid, "SIGKILL");
  }
}

/** Cuts the connection one to four times, each time for a moment. */
async function cutOff(world: World, chance: Chance): Promise<void> {
  const { wire } = await hostAtWork(world, chance);
  for (let n = chance.between(1, 4); n > 0; n--) {
    wire.cut();
    await pause(chance.between(0, 500));
    wire.mend();
    await pause(chance.between(0, 400));
  }
}

/**
 * Simulates a machine that sleeps for longer than its runner's lease: stops the runner, and makes the runner's
 * connection silent.
 */
async function asleep(world: World, chance: Chance): Promise<void> {
  const { process: runner, wire } = await hostAtWork(world, chance);
  wire.silence();
  runner.signal("SIGSTOP");
  await pause(BEYOND_LEASE_MS);
  runner.signal("SIGCONT");
  wire.mend();
}
