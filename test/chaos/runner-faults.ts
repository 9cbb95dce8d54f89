import { setTimeout as pause } from "node:timers/promises";
import type { Chance } from "../simulation/chance.js";
import type { Fault } from "./fault.js";
import { BEYOND_LEASE_MS, type World } from "./world.js";

const target = "runners";

/** What happens to runners, to their network and to their agents. */
export const runnerFaults: readonly Fault[] = [
  { name: "runner killed", target, play: killed },
  { name: "runner stopped", target, play: stopped },
  { name: "agent killed", target, play: agentKilled },
  { name: "runner cut off", target, play: cutOff },
  { name: "runner asleep", target, play: asleep },
];

/** One of them with -9; the other goes on. */
async function killed({ hosts }: World, chance: Chance): Promise<void> {
  await pause(chance.between(0, 1_500));
  await chance.pick(hosts).restart();
}

/** Beyond its lease; its agents run on meanwhile. */
async function stopped({ hosts }: World, chance: Chance): Promise<void> {
  const { process: runner } = chance.pick(hosts);
  runner.signal("SIGSTOP");
  await pause(BEYOND_LEASE_MS);
  runner.signal("SIGCONT");
}

/** The agents that live, up to five times. */
async function agentKilled(world: World, chance: Chance): Promise<void> {
  for (let n = chance.between(1, 5); n > 0; n--) {
    await pause(chance.between(50, 600));
    const living = world.starts.filter(({ pid }) => world.isAgent(pid));
    if (living.length > 0) process.kill(chance.pick(living).pid, "SIGKILL");
  }
}

/** Again and again, and for some time. */
async function cutOff({ hosts }: World, chance: Chance): Promise<void> {
  const { wire } = chance.pick(hosts);
  for (let n = chance.between(1, 4); n > 0; n--) {
    wire.cut();
    await pause(chance.between(0, 500));
    wire.mend();
    await pause(chance.between(0, 400));
  }
}

/** A machine that sleeps beyond its lease: nothing runs on it, and its connection says nothing. */
async function asleep({ hosts }: World, chance: Chance): Promise<void> {
  const { process: runner, wire } = chance.pick(hosts);
  wire.silence();
  runner.signal("SIGSTOP");
  await pause(BEYOND_LEASE_MS);
  runner.signal("SIGCONT");
  wire.mend();
}
