import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { livingPrograms } from "../processes/child-program.js";
import { readArguments, refuseArguments } from "../support/command-line.js";
import type { Fault } from "./fault.js";
import { findFaults } from "./faults.js";
import { planRounds, toSeed } from "./plan.js";
import { playCheck } from "./play-check.js";
import { playReplay } from "./play-replay.js";
import { playSearch } from "./play-search.js";
import { openReplayWorld, type ReplayWorld } from "./replay-world.js";
import { playRound, type RoundReport } from "./round.js";
import { World } from "./world.js";

const USAGE = `npm run chaos -- [--rounds 20] [--seed N] [--only NAME]... [--replay] [--search]

Plays faults, drawn from the seed, against a real service under load, and compares what was acknowledged with what is
there after each round. Ends with 1 when a promise was broken, and keeps that store's folder.

  --rounds N   how many rounds (20), of about eight seconds each
  --seed N     which faults come in which order; without it one is taken and told
  --only NAME  a fault that every round has, and no other; may be given several times
  --replay     instead of rounds one replay of 50 runs, 5 copies of each, while something is killed 20 times, and then
               a check of a planned change, with 6 kills
  --search     instead of rounds one search of a set of 8 runs, while something is killed 20 times
  --help       says this`;

const REPLAY = { runs: 50, repeats: 5, kills: 20 };
const CHECK_KILLS = 6;
const SEARCH = { runs: 8, iterations: 3, kills: 20 };
/** Rounds per store. */
const ROUNDS_A_STORE = 5;

const { values } = readArguments(USAGE, {
  options: {
    rounds: { type: "string", default: "20" },
    seed: { type: "string", default: `${Math.floor(Math.random() * 2 ** 20)}` },
    only: { type: "string", multiple: true },
    replay: { type: "boolean", default: false },
    search: { type: "boolean", default: false },
  },
});
const rounds = wholeNumber("rounds", values.rounds, 1);
const seed = wholeNumber("seed", values.seed, 0);
const totals = { passed: 0, failed: 0, acknowledged: 0, restarts: 0, stores: 0 };
let world: World | null = null;
/** The folder of the current or last world. Null if that folder was removed, or must not be removed. */
let folder: string | null = null;

process.once("SIGINT", () => breakOff(130));
process.once("SIGTERM", () => breakOff(143));
process.once("exit", endPrograms);

await (values.replay ? playOneReplay() : values.search ? playOneSearch() : main());
// Exit, even if a fault left something open.
process.exit();

async function main(): Promise<void> {
  const { faults, skipped } = await findFaults();
  const unknown = values.only?.find((only) => !faults.some(({ name }) => name === only));
  if (unknown !== undefined)
    return refuseArguments(USAGE, `there is no fault ${unknown} here: ${faults.map(({ name }) => name).join(", ")}`);
  console.log(`chaos: ${rounds} rounds, --seed ${seed}`);
  for (const line of skipped) console.log(line);
  const wanted = faults.filter(({ name }) => values.only?.includes(name) ?? true);
  const plan = planRounds(wanted, seed);
  for (let n = 0; n < rounds; n++) {
    const drawn = toSeed(seed, n);
    if (world === null) await openWorld(drawn);
    await playNext(plan.next().value ?? [], n, drawn);
    if ((n + 1) % ROUNDS_A_STORE === 0) await leaveWorld();
  }
  await leaveWorld();
  const { stores, acknowledged, restarts, passed, failed } = totals;
  console.log(`${stores} stores, ${acknowledged} acknowledged, ${restarts} restarts; --seed ${seed}`);
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
}

function playOneReplay(): Promise<void> {
  const { runs, repeats, kills } = REPLAY;
  console.log(`chaos: a replay of ${runs} runs, ${repeats} copies of each, ${kills} kills, --seed ${seed}`);
  return playIn(async (opened) => [
    ...(await playReplay(opened, REPLAY, seed)),
    ...(await playCheck(opened, CHECK_KILLS, seed)),
  ]);
}

function playOneSearch(): Promise<void> {
  const { runs, iterations, kills } = SEARCH;
  console.log(`chaos: a search of ${runs} runs, ${iterations} iterations, ${kills} kills, --seed ${seed}`);
  return playIn((opened) => playSearch(opened, SEARCH, seed));
}

/** Runs `play` in a new world. If a promise was broken, the world's folder stays. */
async function playIn(play: (opened: ReplayWorld) => Promise<readonly string[]>): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), "signalbox-chaos-"));
  const begunMs = performance.now();
  const replayed = await openReplayWorld(folder, seed);
  const broken = await play(replayed).catch((error: unknown) => brokenOff(error).broken);
  await replayed.close();
  for (const line of broken) console.log(`  ${line}`);
  if (broken.length === 0) await replayed.remove();
  else console.log(`  kept: ${folder}`);
  folder = null;
  const answers = `${replayed.given.size} answers of the model`;
  console.log(`${replayed.service.lives} lives of the service, ${answers}; ${seconds(begunMs)} s; --seed ${seed}`);
  console.log(broken.length === 0 ? "1 passed, 0 failed" : "0 passed, 1 failed");
  process.exitCode = broken.length > 0 ? 1 : 0;
}

function seconds(sinceMs: number): string {
  return ((performance.now() - sinceMs) / 1_000).toFixed(1);
}

function wholeNumber(name: string, text: string, least: number): number {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(number) && number >= least) return number;
  return refuseArguments(USAGE, `--${name} is a whole number from ${least}, not ${text || "nothing"}`);
}

/**
 * Stops every started process, and removes the folder of the current world. The removal retries, because processes that
 * are stopping may still write for a moment.
 */
function breakOff(code: number): void {
  endPrograms();
  if (folder !== null) rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
  process.exit(code);
}

function endPrograms(): void {
  world?.close();
  world = null;
  for (const program of livingPrograms) program.signal("SIGKILL");
}

async function openWorld(seed: number): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), "signalbox-chaos-"));
  world = await World.open(folder, seed);
  totals.stores += 1;
}

async function leaveWorld(): Promise<void> {
  const left = world;
  world = null;
  left?.close();
  await left?.remove();
  folder = null;
}

async function playNext(faults: readonly Fault[], n: number, seed: number): Promise<void> {
  if (world === null) return;
  const begunMs = performance.now();
  const report = await playRound(world, faults, seed).catch(brokenOff);
  const { acknowledged, restarts, isWhole, broken } = report;
  totals.acknowledged += acknowledged;
  totals.restarts += restarts;
  totals[broken.length === 0 ? "passed" : "failed"] += 1;
  console.log(
    `round ${n + 1}: ${faults.map(({ name }) => name).join(", ")}; ${acknowledged} acknowledged, ${restarts} restarts, ` +
      `doctor: ${isWhole ? "whole" : "not whole"}; ${seconds(begunMs)} s${broken.length === 0 ? "" : ": BROKEN"}`,
  );
  if (broken.length > 0) leaveBroken(world, broken);
}

/** Returns the report of a round that could not be completed, for example because the service no longer starts. */
function brokenOff(error: unknown): RoundReport {
  const broken = String(error instanceof Error ? error.stack : error).split("\n");
  return { acknowledged: 0, restarts: 0, isWhole: false, broken };
}

/** Keeps the folder of the store, and uses another store from now on. So each loss is reported only once. */
function leaveBroken(left: World, broken: readonly string[]): void {
  for (const line of broken) console.log(`  ${line}`);
  left.keepLogs();
  left.close();
  console.log(`  kept: ${left.folder}`);
  world = null;
  folder = null;
}
