import type { OfferRunner, QueueRun, ReleaseClaim, UnqueueRun } from "../actors/runners/dispatcher.messages.js";
import { readPlacement, whyWaiting } from "../actors/runners/placement.queries.js";
import { claims } from "../actors/runners/runner.table.js";
import { waitingReason } from "../actors/runners/waiting-reason.js";
import type { Runtime } from "../runtime/runtime.js";
import type { Store } from "../storage/store.js";
import {
  cpuMicros,
  inStore,
  offerRunner,
  queueRun,
  sendToDispatcher,
  start,
  WORKSPACE,
  write,
} from "./support/dispatching.js";
import { percentile, printTable } from "./support/table.js";

const FEW = 10;
const MANY = 1_000;
/** Number of queued runs that fit no runner. Below it, the number of distinct requirements that these runs have. */
const WAITING = 1_000;
const NEEDS = 20;
/** Messages of one kind per round. */
const MESSAGES = 4_000;
const ROUNDS = 5;
/** Runs placed at once on {@link MANY} runners with two slots each. */
const PLACED = 2_000;
const PLACED_ROUNDS = 3;
/**
 * Numbers per round. `READS` is how often the reason why a run waits is read from cached rows, and `BUILDS` is how
 * often it is read from all rows. In each turn of the event loop, {@link READS_AT_ONCE} reads are made.
 */
const READS = 10_000;
const BUILDS = 40;
const READS_AT_ONCE = 50;

/**
 * The labels that runners have besides their label `here`. `shared`: each label is shared by a tenth of the runners.
 * `own`: each runner has a label that no other runner has.
 */
type Labelling = "shared" | "own";

/** CPU time per message or read, in microseconds. */
interface Measured {
  readonly what: string;
  readonly micros: number;
}

/** One side of a comparison: a runtime with few or with many runners. */
interface Side {
  readonly runtime: Runtime;
  /** Yields one figure after another. Every side yields the same list of figures. */
  round(): AsyncGenerator<Measured, void, void>;
}

interface Scene {
  readonly runtime: Runtime;
  readonly offers: readonly OfferRunner[];
  queued: number;
}

/**
 * Measures the dispatcher's CPU time:
 *
 * - per message, while many queued runs fit no runner
 * - per read of the reason why a run waits, in the same state
 * - per placed run
 */
export async function run(): Promise<void> {
  const rows = [
    ...(await compare((store, count) => messageRounds(store, count, "shared"))),
    ...(await compare((store, count) => messageRounds(store, count, "own"))),
    ...(await compare(readRounds)),
  ];
  const placed = await inStore(placeAll);
  printTable({
    title: "Dispatcher",
    note:
      `Microseconds of CPU a message while ${WAITING} runs of ${NEEDS} different needs wait that no runner fits, at ` +
      `${FEW} and at ${MANY} runners: medians of ${ROUNDS} rounds of ${MESSAGES} messages by turns, commits included. ` +
      `Of ${MANY} runners the same ${FEW} offer as of ${FEW}, so that both sides write the same rows. Where each ` +
      `offers in turn, a batch has more rows to write of ${MANY} runners than of ${FEW}; what these rows take without ` +
      `a dispatcher stands below. Then why a run waits, with as many claims as runners, and what it would take to read ` +
      `all their rows for it. Last a run that is placed at once, ${PLACED} runs on ${MANY} runners of two places, from ` +
      `the first run.queue to the last durable claim: the median of ${PLACED_ROUNDS} rounds.`,
    columns: ["", `${FEW} runners`, `${MANY} runners`, "ratio"],
    rows: [...rows, ["a run placed", "", Math.round(placed), ""]],
  });
}

/**
 * Measures each figure on the side with few runners and on the side with many runners, and only then the next figure.
 * So other load affects both sides equally.
 */
async function compare(open: (store: Store, count: number) => Promise<Side>): Promise<(string | number)[][]> {
  return inStore((few) =>
    inStore(async (many) => {
      const sides = [await open(few, FEW), await open(many, MANY)];
      /** The measured values by the name of their figure. For each side, there is a list with one value per round. */
      const figures = new Map<string, number[][]>();
      for (let n = 0; n <= ROUNDS; n++) {
        const rounds = sides.map((side) => side.round());
        for (let measured = await readNext(rounds); measured.length > 0; measured = await readNext(rounds)) {
          // Do not count the first round, in which the code is compiled.
          if (n > 0)
            for (const [index, { what, micros }] of measured.entries()) {
              figures.set(what, figures.get(what) ?? sides.map(() => []));
              figures.get(what)?.[index]?.push(micros);
            }
        }
      }
      for (const { runtime } of sides) await runtime.stop();
      return [...figures].map(([what, kept]) => {
        const [atFew = 0, atMany = 0] = kept.map((micros) => percentile(micros, 0.5));
        return [what, toMicros(atFew), toMicros(atMany), (atMany / atFew).toFixed(2)];
      });
    }),
  );
}

/** Returns the next figure of each side, or an empty list at the end of the round. */
async function readNext(rounds: readonly AsyncGenerator<Measured, void, void>[]): Promise<Measured[]> {
  const measured: Measured[] = [];
  for (const round of rounds) {
    const { value } = await round.next();
    if (value !== undefined) measured.push(value);
  }
  return measured;
}

async function measure(what: string, times: number, work: () => Promise<void>): Promise<Measured> {
  return { what, micros: (await cpuMicros(work)) / times };
}

function toMicros(micros: number): number {
  return micros < 10 ? Math.round(10 * micros) / 10 : Math.round(micros);
}

async function messageRounds(store: Store, count: number, labelling: Labelling): Promise<Side> {
  const runtime = await start(store);
  await sendToDispatcher(runtime, waitingRuns(0, WAITING));
  const offers = Array.from({ length: count }, (_, n) =>
    offerRunner(n, { slots: 600, label: labelling === "own" ? `host-${n}` : `kind-${n % 10}` }),
  );
  await sendToDispatcher(runtime, offers);
  const scene: Scene = { runtime, offers, queued: WAITING };
  const suffix = labelling === "own" ? ", each runner with a label of its own" : "";
  return { runtime, round: () => takeRound(scene, suffix) };
}

/**
 * Sends the same number of messages of each kind. Before that, queues runs that the dispatcher places at once: the
 * claims of these runs are then released. At the end, removes this round's waiting runs from the queue.
 */
async function* takeRound(scene: Scene, suffix: string): AsyncGenerator<Measured, void, void> {
  const { runtime, offers } = scene;
  const from = scene.queued;
  scene.queued += 2 * MESSAGES;
  const waiting = waitingRuns(from, MESSAGES);
  await sendToDispatcher(
    runtime,
    Array.from({ length: MESSAGES }, (_, n) => queueRun(from + MESSAGES + n, ["here"])),
  );
  const releases = claims
    .list(runtime.reading, WORKSPACE)
    .map(({ runnerId, runId }): ReleaseClaim => ({ type: "claim.release", runnerId, runId }));
  if (releases.length !== MESSAGES) throw new Error(`${releases.length} runs were placed`);
  const [ofFew, ofEach] = [changing(offers.slice(0, FEW)), changing(offers)];
  for (const [what, work] of [
    ["run.queue", () => sendToDispatcher(runtime, waiting)],
    ["claim.release", () => sendToDispatcher(runtime, releases)],
    [`runner.offer, by the same ${FEW}`, () => sendToDispatcher(runtime, ofFew)],
    ["runner.offer, by each in turn", () => sendToDispatcher(runtime, ofEach)],
    ["the rows of that, written without a dispatcher", () => write(runtime, ofEach)],
  ] as const) {
    yield measure(`${what}${suffix}`, MESSAGES, work);
  }
  await sendToDispatcher(
    runtime,
    waiting.map(({ run }): UnqueueRun => ({ type: "run.unqueue", run })),
  );
}

/** Creates offers by all runners in rotation. Each runner offers all its slots and one slot less, alternately. */
function changing(offers: readonly OfferRunner[]): OfferRunner[] {
  return Array.from({ length: MESSAGES }, (_, n) => {
    const offer = offers[n % offers.length];
    if (offer === undefined) throw new Error("there are no runners");
    const slots = offer.runner.slots - (Math.floor(n / offers.length) % 2);
    return { ...offer, runner: { ...offer.runner, slots } };
  });
}

/**
 * Measures how long it takes to read why a run waits while every runner has a claim. Reads the reason from cached rows
 * and from all rows.
 */
async function readRounds(store: Store, count: number): Promise<Side> {
  const runtime = await start(store);
  const { reading } = runtime;
  const waiting = waitingRuns(count, WAITING);
  await sendToDispatcher(runtime, [
    ...Array.from({ length: count }, (_, n) => offerRunner(n, { slots: 1, label: `kind-${n % 10}` })),
    ...Array.from({ length: count }, (_, n) => queueRun(n, ["here"])),
    ...waiting,
  ]);
  const read = async (times: number, why: (run: QueueRun["run"]) => string | null) => {
    for (let n = 0; n < times; n++) {
      const queue = waiting[n % waiting.length];
      if (queue === undefined || why(queue.run) === null) throw new Error("a run does not wait");
      if (n % READS_AT_ONCE === 0) await new Promise(setImmediate);
    }
  };
  const fromHeld = () => read(READS, (run) => whyWaiting(reading, WORKSPACE, run));
  const fromRows = () => read(BUILDS, (run) => waitingReason(run, readPlacement(reading, WORKSPACE)));
  async function* round(): AsyncGenerator<Measured, void, void> {
    yield measure("why a run waits", READS, fromHeld);
    yield measure("the same from all rows, as the first read of a workspace", BUILDS, fromRows);
  }
  return { runtime, round };
}

function waitingRuns(from: number, count: number): QueueRun[] {
  return Array.from({ length: count }, (_, n) => queueRun(from + n, [`missing-${n % NEEDS}`]));
}

/** Returns the CPU time to place a run, in microseconds. */
async function placeAll(store: Store): Promise<number> {
  const runtime = await start(store);
  await sendToDispatcher(
    runtime,
    Array.from({ length: MANY }, (_, n) => offerRunner(n, { slots: 2, label: `kind-${n % 10}` })),
  );
  const micros: number[] = [];
  for (let round = 0; round < PLACED_ROUNDS; round++) {
    const queued = Array.from({ length: PLACED }, (_, n) => queueRun(round * PLACED + n, ["here"]));
    micros.push((await cpuMicros(() => sendToDispatcher(runtime, queued))) / PLACED);
    const held = claims.list(runtime.reading, WORKSPACE);
    if (held.length !== PLACED) throw new Error(`${held.length} runs were placed`);
    await sendToDispatcher(
      runtime,
      held.map(({ runnerId, runId }): ReleaseClaim => ({ type: "claim.release", runnerId, runId })),
    );
  }
  await runtime.stop();
  return percentile(micros, 0.5);
}
