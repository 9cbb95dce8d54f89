import type { Runtime } from "../../runtime/runtime.js";
import type { Reading } from "../../storage/store.js";
import { createChance } from "./chance.js";
import { checkAcknowledged, checkAtRest, checkReads } from "./checks.js";
import { Client, type Told } from "./clients.js";
import { SimulatedDisk } from "./disk.js";
import type { Fault } from "./faults.js";
import { History } from "./history.js";
import { Outside } from "./outside.js";
import { SimulatedProcess } from "./process.js";
import { Reader } from "./readers.js";
import { partitions } from "./rows.js";
import { accountIds, createCatalogue } from "./system.js";
import { World } from "./world.js";

export interface SimulationOptions {
  readonly seed: number;
  /** The fault of the disk; none by default. */
  readonly fault?: Fault;
  /** Whether the result contains every line of the history, for debugging. */
  readonly keepsLines?: boolean;
}

export interface SimulationResult {
  /** Failed checks; empty if all passed. */
  readonly complaints: readonly string[];
  /** A digest of all events. */
  readonly history: string;
  readonly lines: readonly string[];
  readonly steps: number;
  readonly lives: number;
  readonly operations: number;
}

const CLIENTS = 8;
const OPERATIONS_EACH = 15;
/** Maximum number of steps of a run. A run that is still active after these steps fails. */
const MOST_STEPS = 60_000;
/** Number of steps between two checks of the cached reads. Runs with a faulty disk skip these checks. */
const READ_EVERY_STEPS = 5;
/** Interval between retries of dead letters, in milliseconds. */
const OPERATOR_EVERY_MS = 3_000;

/**
 * Runs the real runtime on a simulated disk, clock and outside world. Kills and stops the process at random times.
 * Returns the failed checks.
 */
export async function simulate(options: SimulationOptions): Promise<SimulationResult> {
  const chance = createChance(options.seed);
  const world = new World(chance);
  const history = new History({ keepsLines: options.keepsLines === true });
  const disk = new SimulatedDisk(world, chance, options.fault ?? null);
  const outside = new Outside(world, chance, disk.reading);
  const told: Told = { done: new Map(), refused: new Map() };
  const complaints: string[] = [];
  const readers = partitions.flatMap((partition) =>
    accountIds.map((id) => new Reader(partition, `account/${id}`, disk.reading, history)),
  );
  let reading: Reading = disk.reading;
  const process = new SimulatedProcess(
    world,
    chance,
    disk,
    createCatalogue(new Map(), outside.effects()),
    (runtime) => {
      history.note(`${world.nowMs} started`);
      complaints.push(...checkAcknowledged(disk.reading, told));
      for (const reader of readers) reader.resume(runtime);
      reading = runtime.reading;
    },
  );
  await process.start();
  const clients = Array.from({ length: CLIENTS }, (_, index) =>
    new Client(`c${index}`, { world, chance, process, told, history }).run(OPERATIONS_EACH),
  );
  let busy = true;
  void Promise.all(clients).then(() => {
    busy = false;
  });
  const operator = operate(world, process, () => busy);

  const fate = { crashes: chance.between(0, 6), stops: chance.between(0, 2), failures: chance.between(0, 2) };
  let steps = 0;
  while (steps++ < MOST_STEPS) {
    if (busy && process.isUp) meetFate(fate, chance, process, disk);
    if (!(await world.step())) break;
    if (process.isUp && options.fault === undefined && steps % READ_EVERY_STEPS === 0) {
      complaints.push(...checkReads(reading, disk.reading));
    }
  }
  if (steps >= MOST_STEPS) complaints.push("the system does not come to rest");
  else await operator;
  complaints.push(...checkAtRest(disk.reading, told, outside), ...readers.flatMap((reader) => reader.check()));
  complaints.push(...process.complaints);
  history.note(JSON.stringify(complaints));
  for (const { key, value } of disk.reading.range({ prefix: [] })) history.note(JSON.stringify([key, value]));
  const { lives } = process;
  const operations = told.done.size + told.refused.size;
  return { complaints, history: history.digest(), lines: history.lines, steps, lives, operations };
}

interface Fate {
  crashes: number;
  stops: number;
  failures: number;
}

function meetFate(
  fate: Fate,
  chance: ReturnType<typeof createChance>,
  process: SimulatedProcess,
  disk: SimulatedDisk,
): void {
  if (fate.crashes > 0 && chance.onceIn(120)) {
    fate.crashes -= 1;
    process.kill();
  } else if (fate.stops > 0 && chance.onceIn(300)) {
    fate.stops -= 1;
    process.stop();
  } else if (fate.failures > 0 && chance.onceIn(300)) {
    fate.failures -= 1;
    disk.fail();
  }
}

/** Retries dead letters like an operator, until every message that can succeed has succeeded. */
async function operate(world: World, process: SimulatedProcess, isBusy: () => boolean): Promise<void> {
  let quiet = 0;
  while (quiet < 4) {
    await world.pause(OPERATOR_EVERY_MS);
    const { runtime, over } = await process.life();
    const retried = await Promise.race([retryStumbling(runtime), over.then(() => true)]);
    quiet = retried || isBusy() ? 0 : quiet + 1;
  }
}

async function retryStumbling(runtime: Runtime): Promise<boolean> {
  const letters = partitions.flatMap((partition) => runtime.deadLetters.list(partition, 1_000));
  const stumbling = letters.filter(({ message }) => message.type === "stumbling");
  for (const { to, id } of stumbling) await runtime.deadLetters.retry(to.partition, id).catch(() => false);
  return stumbling.length > 0;
}
