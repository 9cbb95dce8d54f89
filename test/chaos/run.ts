import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { livingPrograms } from "../processes/child-program.js";
import type { Fault } from "./fault.js";
import { findFaults } from "./faults.js";
import { planRounds, seedOf } from "./plan.js";
import { playRound, type RoundReport } from "./round.js";
import { World } from "./world.js";

const HELP = `npm run chaos -- [--rounds 20] [--seed N]

Plays faults, drawn from the seed, against a real service under load, and compares what was acknowledged with what is
there after each round. Ends with 1 when a promise was broken, and keeps that store's folder.

  --rounds N   how many rounds (20), of about eight seconds each
  --seed N     which faults come in which order; without it one is taken and told
  --only NAME  a fault that every round has, and no other; may be given several times
  --help       says this`;

/** Rounds over one store. */
const ROUNDS_A_STORE = 5;

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "20" },
    seed: { type: "string", default: `${Math.floor(Math.random() * 2 ** 20)}` },
    only: { type: "string", multiple: true },
    help: { type: "boolean", default: false },
  },
});
const totals = { passed: 0, failed: 0, acknowledged: 0, restarts: 0, stores: 0 };
let world: World | null = null;

process.once("SIGINT", () => breakOff(130));
process.once("SIGTERM", () => breakOff(143));
process.once("exit", endPrograms);

const [rounds, seed] = [Number(values.rounds), Number(values.seed)];
if (values.help) console.log(HELP);
else if (!Number.isSafeInteger(rounds) || rounds < 1 || !Number.isSafeInteger(seed))
  refuse("--rounds and --seed are numbers");
else await main();
// Whatever a fault left open keeps nobody waiting.
process.exit();

async function main(): Promise<void> {
  const { faults, skipped } = await findFaults();
  const unknown = values.only?.find((only) => !faults.some(({ name }) => name === only));
  if (unknown !== undefined)
    return refuse(`there is no fault ${unknown} here: ${faults.map(({ name }) => name).join(", ")}`);
  console.log(`chaos: ${rounds} rounds, --seed ${seed}`);
  for (const line of skipped) console.log(line);
  const wanted = faults.filter(({ name }) => values.only?.includes(name) ?? true);
  const plan = planRounds(wanted, seed);
  for (let n = 0; n < rounds; n++) {
    const drawn = seedOf(seed, n);
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

function refuse(why: string): void {
  console.error(why);
  process.exitCode = 2;
}

/** Ends every process that was started; nothing was found, so nothing is kept. */
function breakOff(code: number): void {
  const folder = world?.folder;
  endPrograms();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  process.exit(code);
}

function endPrograms(): void {
  world?.close();
  world = null;
  for (const program of livingPrograms) program.signal("SIGKILL");
}

async function openWorld(seed: number): Promise<void> {
  world = await World.open(mkdtempSync(join(tmpdir(), "signalbox-chaos-")), seed);
  totals.stores += 1;
}

async function leaveWorld(): Promise<void> {
  const left = world;
  world = null;
  left?.close();
  await left?.remove();
}

async function playNext(faults: readonly Fault[], n: number, seed: number): Promise<void> {
  if (world === null) return;
  const begunMs = performance.now();
  const report = await playRound(world, faults, seed).catch(brokenOff);
  const { acknowledged, restarts, isWhole, broken } = report;
  const seconds = ((performance.now() - begunMs) / 1_000).toFixed(1);
  totals.acknowledged += acknowledged;
  totals.restarts += restarts;
  totals[broken.length === 0 ? "passed" : "failed"] += 1;
  console.log(
    `round ${n + 1}: ${faults.map(({ name }) => name).join(", ")}; ${acknowledged} acknowledged, ${restarts} restarts, ` +
      `doctor: ${isWhole ? "whole" : "not whole"}; ${seconds} s${broken.length === 0 ? "" : ": BROKEN"}`,
  );
  if (broken.length > 0) leaveBroken(world, broken);
}

/** A round that could not be played to its end, such as when the service does not start any more. */
function brokenOff(error: unknown): RoundReport {
  const broken = String(error instanceof Error ? error.stack : error).split("\n");
  return { acknowledged: 0, restarts: 0, isWhole: false, broken };
}

/** Keeps the store. It is not gone on with, so that each loss is told once. */
function leaveBroken(left: World, broken: readonly string[]): void {
  for (const line of broken) console.log(`  ${line}`);
  left.keepLogs();
  left.close();
  console.log(`  kept: ${left.folder}`);
  world = null;
}
