import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Arrivals, ReadersOrder } from "./support/socket-readers.js";
import type { ServiceOrder, SocketCounts, SocketWorld } from "./support/socket-world.js";
import { percentile, printTable } from "./support/table.js";

const ROUNDS = 5;
/** Changes written first, so that the code of a write is compiled. */
const WARM_UP = { changes: 1_500, perSecond: 500, isHeard: false };

/** What to measure: the number of sockets, the number of changes, and their rate. */
interface Scene {
  readonly title: string;
  readonly counts: SocketCounts;
  readonly perSecond: number;
  readonly changes: number;
}

const oneTopic: Scene = {
  title: "Sockets: a change to 1,000",
  counts: { topics: 1, socketsOnTopic: 1_000 },
  perSecond: 15,
  changes: 30,
};
const manyTopics: Scene = {
  title: "Sockets: 5,000, and 1,000 changes a second",
  counts: { topics: 500, socketsOnTopic: 10 },
  perSecond: 1_000,
  changes: 3_000,
};

/** The figures of one side in one round. */
interface Round extends Arrivals {
  /**
   * CPU time in microseconds: `cpuMicros` for the changes, and `silentMicros` for the same number of changes without
   * readers.
   */
  readonly cpuMicros: number;
  readonly silentMicros: number;
}

/** A service in a separate process, and its sockets in another process. */
interface Side {
  readonly name: string;
  readonly world: SocketWorld;
  /** The text of a change on the wire. */
  readonly text: () => string;
  measure(scene: Scene): Promise<Round>;
  close(): Promise<void>;
}

/**
 * Measures the CPU time of changes sent to many sockets, compared with a bare uWebSockets.js server that sends the same
 * bytes.
 */
export async function run(): Promise<void> {
  const isThere = await import("uWebSockets.js").then(
    () => true,
    () => false,
  );
  if (!isThere) {
    console.log("\nSockets: skipped, uWebSockets.js has no binary that loads on this machine");
    return;
  }
  for (const scene of [oneTopic, manyTopics]) await measureScene(scene);
}

async function measureScene(scene: Scene): Promise<void> {
  const own = await openSide("Signalbox", { open: scene.counts, bare: null });
  const sides = [own];
  try {
    // Do not count the first changes. They show which bytes the service sends, and the bare server then sends the same
    // bytes.
    await own.measure(scene);
    const { topics, silent } = own.world;
    const bare = { topics, silent, text: own.text() };
    sides.unshift(await openSide("bare uWebSockets.js", { open: scene.counts, bare }));
    await sides[0]?.measure(scene);
    const rounds = new Map<Side, Round[]>(sides.map((side) => [side, []]));
    // The sides alternate, so that other load affects all of them equally.
    for (let round = 0; round < ROUNDS; round++) {
      for (const side of sides) rounds.get(side)?.push(await side.measure(scene));
    }
    print(scene, own.text().length, [...rounds]);
  } finally {
    for (const side of sides) await side.close();
  }
}

async function openSide(name: string, order: ServiceOrder): Promise<Side> {
  const service = startProcess<ServiceOrder>(new URL("./support/socket-service.js", import.meta.url));
  const readers = startProcess<ReadersOrder>(new URL("./support/socket-readers.js", import.meta.url));
  const world = await service.ask<SocketWorld>(order);
  await readers.ask<true>({ open: world });
  await readers.ask<Arrivals>(WARM_UP);
  let text = "";
  const write = async ({ changes, perSecond }: Scene, isHeard: boolean) => {
    const beforeMicros = await service.ask<number>({ ask: "cpu" });
    const arrivals = await readers.ask<Arrivals & { readonly text: string }>({ changes, perSecond, isHeard });
    return { arrivals, cpuMicros: (await service.ask<number>({ ask: "cpu" })) - beforeMicros };
  };
  return {
    name,
    world,
    text: () => text,
    measure: async (scene) => {
      const silent = await write(scene, false);
      const { arrivals, cpuMicros } = await write(scene, true);
      text ||= arrivals.text;
      return { ...arrivals, cpuMicros, silentMicros: silent.cpuMicros };
    },
    close: async () => {
      await readers.close();
      await service.close();
    },
  };
}

/** A process of a module in `support/` that answers each order with a message. */
interface Process<Order> {
  /** Throws if the process exits before it answers. */
  ask<Answer>(order: Order): Promise<Answer>;
  close(): Promise<void>;
}

function startProcess<Order extends object>(module: URL): Process<Order> {
  const child = fork(fileURLToPath(module));
  const exit = once(child, "exit");
  const ended = exit.then(([code]) => {
    throw new Error(`the process of ${module.pathname} ended with ${code}`);
  });
  ended.catch(() => undefined);
  return {
    ask: async <Answer>(order: object) => {
      child.send(order);
      const [answer] = await Promise.race([once(child, "message"), ended]);
      return answer as Answer;
    },
    close: async () => {
      child.send({ ask: "close" });
      await exit;
    },
  };
}

function print({ title, counts, perSecond, changes }: Scene, bytes: number, sides: readonly [Side, Round[]][]): void {
  const median = (rounds: readonly Round[], figure: (round: Round) => number) => percentile(rounds.map(figure), 0.5);
  const socketMicros = (rounds: readonly Round[]) =>
    median(rounds, ({ cpuMicros, silentMicros, messages }) => (cpuMicros - silentMicros) / messages);
  const bareMicros = socketMicros(sides[0]?.[1] ?? []);
  const { topics, socketsOnTopic } = counts;
  printTable({
    title,
    note:
      `${(topics * socketsOnTopic).toLocaleString("en-US")} sockets with a token each, ${socketsOnTopic} on each of ` +
      `${topics} workspaces; ${perSecond} secrets added a second, ${changes} in each of ${ROUNDS} ` +
      `rounds, whose medians these are; messages of ${bytes} bytes. A bare server sends the same bytes, and stores ` +
      "nothing. CPU is that of the server's process: of a change that nobody reads, and what a socket adds to it. Times " +
      "are from the answer to the writer, which comes later than many messages, and from its request until a message " +
      "arrives.",
    columns: [
      ...["server", "CPU us a change", "and a socket", "to bare", "messages/s", "p50 ms", "p99 ms"],
      ...["from the request, p50 ms", "p99 ms", "missing", "failed"],
    ],
    rows: sides.map(([{ name }, rounds]) => [
      name,
      Math.round(median(rounds, ({ silentMicros }) => silentMicros / changes)),
      socketMicros(rounds).toFixed(1),
      (socketMicros(rounds) / bareMicros).toFixed(2),
      Math.round(median(rounds, ({ messages, seconds }) => messages / seconds)),
      ...[({ p50Ms }: Round) => p50Ms, ({ p99Ms }: Round) => p99Ms].map((figure) => median(rounds, figure).toFixed(1)),
      median(rounds, ({ fromRequest }) => fromRequest.p50Ms).toFixed(1),
      median(rounds, ({ fromRequest }) => fromRequest.p99Ms).toFixed(1),
      rounds.reduce((sum, { missing }) => sum + missing, 0),
      rounds.reduce((sum, { failed }) => sum + failed, 0),
    ]),
  });
}
