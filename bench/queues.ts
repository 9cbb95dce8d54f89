import type { ChildProcess } from "node:child_process";
import type { QueueServer, ServerKind } from "./queues/servers.js";
import { queueSettings } from "./queues/settings.js";
import { type Figures, IN_FLIGHT } from "./support/hook-events.js";
import { deliverBy, endRounds, HOOK_PROCESS, startRounds, toMedian, withReceiver } from "./support/hook-rounds.js";
import { plain } from "./support/hook-sides.js";
import { printTable } from "./support/table.js";

const ROUNDS = 3;
/** Events per round. */
const EVENTS = 6_000;
const QUEUE_PROCESS = new URL("./queues/queue-process.js", import.meta.url);

/** One row of the table: the process that adds and processes events, and the server of its queue. */
interface Side {
  readonly name: string;
  readonly process: ChildProcess;
  readonly server: QueueServer | null;
  readonly rounds: Figures[];
}

/**
 * Measures deliveries of Signalbox and of queues that need a server. The printed note explains the method. Pass a lower
 * number of rounds, or a pattern for the names of the queues, for a shorter measurement.
 */
export async function run(rounds = ROUNDS, fitting = /./): Promise<void> {
  const servers: QueueServer[] = [];
  const sides: Side[] = [];
  try {
    await withReceiver(async (url) => {
      const process = await startRounds(HOOK_PROCESS, [plain.name, url]);
      sides.push({ name: plain.name, process, server: null, rounds: [] });
      const missing = new Set<ServerKind>();
      for (const { name, server: kind } of queueSettings.filter(({ name }) => fitting.test(name))) {
        const server = await kind.start();
        if (server === null) missing.add(kind);
        else {
          servers.push(server);
          const process = await startRounds(QUEUE_PROCESS, [name, url, server.address]);
          sides.push({ name, process, server, rounds: [] });
        }
      }
      // The sides alternate, so that other load affects all of them equally. The first round compiles the code.
      for (let round = 0; round <= rounds; round++) {
        for (const side of sides) {
          const figures = await deliverRound(side);
          if (round > 0) side.rounds.push(figures);
        }
      }
      print(sides, { rounds, missing });
    });
  } finally {
    // Close each queue before its server.
    for (const { process } of sides) await endRounds(process);
    for (const server of servers) await server.stop();
  }
}

/** Measures one round, including the CPU time of the queue's server. */
async function deliverRound({ process, server }: Side): Promise<Figures> {
  const before = server?.cpuMicros() ?? 0;
  const figures = await deliverBy(process, EVENTS);
  const ofServer = (server?.cpuMicros() ?? 0) - before;
  return { ...figures, cpuMicros: figures.cpuMicros + ofServer / EVENTS };
}

function print(
  sides: readonly Side[],
  { rounds, missing }: { readonly rounds: number; readonly missing: ReadonlySet<ServerKind> },
): void {
  const rows = sides.map(({ name, rounds: figures }) => ({ name, ...toMedian(figures) }));
  const own = rows[0]?.cpuMicros ?? 0;
  const left = [...missing].map(({ name, debianPackage }) => ` Left out: ${name}, Debian's package ${debianPackage}.`);
  printTable({
    title: "Queues",
    note:
      `From the event to delivered and recorded, ${IN_FLIGHT} in flight, ${EVENTS.toLocaleString("en-US")} events, medians ` +
      `of ${rounds} rounds in turns. Each records the event on disk before it acknowledges it, sends the same signed ` +
      "request to a receiver in a process of its own, and records on disk how it went. Signalbox, in one process with its " +
      "store, finds the event's hooks, guards against loops, and keeps the event and of each attempt its time, headers, " +
      "status and answer. BullMQ takes jobs one by one and keeps each with the status and body of its answer; so does " +
      "pg-boss, which takes them in batches, but for rows without answers. graphile-worker keeps nothing of a job once " +
      "it is done, and ends it here before that is on disk. CPU is user and system time of " +
      "the process that adds and works, and of all processes of the queue's server; the receiver's is not counted. The " +
      "servers are those of Debian's packages, each on a Unix socket in a folder of its own: Redis with appendfsync " +
      "always, PostgreSQL with its defaults. What is added in batches came while the batch before was on its way." +
      left.join(""),
    columns: ["", "CPU us each", "of Signalbox's", "deliveries/s", "p50 ms", "p99 ms"],
    rows: rows.map(({ name, perSecond, p50, p99, cpuMicros }) => [
      ...[name, cpuMicros.toFixed(0), (cpuMicros / own).toFixed(1), Math.round(perSecond)],
      ...[p50.toFixed(1), p99.toFixed(1)],
    ]),
  });
}
