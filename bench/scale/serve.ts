import { setTimeout as pause } from "node:timers/promises";
import { runFacts } from "../../actors/run-facts/run-fact.table.js";
import { toDay } from "../../actors/run-facts/stay.table.js";
import { readConfig } from "../../http/process/config.js";
import { createLog } from "../../http/process/log.js";
import { type Service, startService } from "../../http/process/service.js";
import { type Clock, createSystemClock } from "../../runtime/clock.js";

/** A command for the service's process. The process answers each command with a result or a failure. */
export type Command =
  | { readonly type: "start"; readonly folder: string; readonly receiver: string }
  /** Returns the CPU time so far, in microseconds. */
  | { readonly type: "cpu" }
  /** Waits until the service is idle. */
  | { readonly type: "settle" }
  /** Sets the service's clock ahead. */
  | { readonly type: "ahead"; readonly ms: number }
  /** Reads the facts of a team's last `days` days, `times` times. */
  | {
      readonly type: "facts";
      readonly workspaceId: string;
      readonly teamId: string;
      readonly days: number;
      readonly times: number;
    }
  | { readonly type: "stop" };

/** The result of a start. `startMicros` is the CPU time of the start in microseconds, without module loading. */
export interface Started {
  readonly port: number;
  readonly startMicros: number;
  /** From the process start until the service listens, in milliseconds. */
  readonly listensMs: number;
  readonly residentBytes: number;
}

const QUIET_MS = 20;
/** How many intervals in a row must be idle before the service counts as idle. */
const QUIET_TIMES = 4;
/**
 * An interval counts as idle if the service uses less CPU time than this in it, in microseconds. A background search
 * that runs after startup uses more.
 */
const QUIET_MICROS = 4_000;
const DAY_MS = 24 * 60 * 60 * 1_000;

/** The system clock, which can be set ahead. */
class AheadClock implements Clock {
  readonly #clock = createSystemClock();
  readonly #alarms = new Set<{ readonly atMs: number; readonly ring: () => void; cancel: () => void }>();
  #aheadMs = 0;

  now(): number {
    return this.#clock.now() + this.#aheadMs;
  }

  at(atMs: number, wake: () => void): () => void {
    const ring = () => {
      this.#alarms.delete(alarm);
      wake();
    };
    const alarm = { atMs, ring, cancel: this.#clock.at(atMs - this.#aheadMs, ring) };
    this.#alarms.add(alarm);
    return () => {
      alarm.cancel();
      this.#alarms.delete(alarm);
    };
  }

  ahead(ms: number): void {
    this.#aheadMs += ms;
    for (const alarm of this.#alarms) {
      alarm.cancel();
      alarm.cancel = this.#clock.at(alarm.atMs - this.#aheadMs, alarm.ring);
    }
  }
}

const clock = new AheadClock();
let service: Service | null = null;

async function start({ folder, receiver }: Extract<Command, { type: "start" }>): Promise<Started> {
  const fixed = { DATA_DIR: folder, PORT: "0", TRANSPORT: "uws", LOG_LEVEL: "silent", OUTBOUND_ALLOW: receiver };
  const limits = { RATE_PER_CREDENTIAL: "0", RATE_PER_ADDRESS: "0", LEASE_SECONDS: "3600" };
  const config = readConfig({ ...fixed, ...limits });
  const before = cpuMicros();
  service = await startService({ config, log: createLog("silent"), clock });
  const listensMs = performance.now();
  const startMicros = cpuMicros() - before;
  return { port: service.port, startMicros, listensMs, residentBytes: process.memoryUsage.rss() };
}

function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

async function settle({ runtime }: Service): Promise<void> {
  let turns = -1;
  for (let quiet = 0; quiet < QUIET_TIMES; ) {
    const before = cpuMicros();
    await pause(QUIET_MS);
    const stats = runtime.stats();
    const isQuiet = stats.turns === turns && stats.pendingEffects === 0 && cpuMicros() - before < QUIET_MICROS;
    quiet = isQuiet ? quiet + 1 : 0;
    turns = stats.turns;
  }
}

/**
 * Reads the facts of a team's last `days` days in order and page by page, as the computation of a figure does. Repeats
 * this `times` times. `count` is the number of facts in one pass; `completed` is the number of completed runs in all
 * passes.
 */
function foldFacts({ runtime }: Service, { workspaceId, teamId, days, times }: Extract<Command, { type: "facts" }>) {
  const from = toDay(runtime.clock.now() - days * DAY_MS);
  let completed = 0;
  let count = 0;
  for (let n = 0; n < times; n++) {
    count = 0;
    for (let after = [teamId, from] as readonly (string | number)[] | undefined; after !== undefined; ) {
      const page = runFacts.entries(runtime.reading, workspaceId, [teamId], { after, limit: 500 });
      for (const { value } of page) completed += value.outcome === "completed" ? 1 : 0;
      count += page.length;
      after = page.length < 500 ? undefined : page.at(-1)?.key.slice(3);
    }
  }
  return { count, completed };
}

async function answer(command: Command): Promise<unknown> {
  if (command.type === "start") return start(command);
  if (service === null) throw new Error("the service was not started");
  if (command.type === "cpu") return cpuMicros();
  if (command.type === "settle") return settle(service);
  if (command.type === "ahead") return clock.ahead(command.ms);
  if (command.type === "facts") return foldFacts(service, command);
  return service.stop();
}

// Entry point of the child process: answers one command after another, and exits with its parent.
process.on("message", async (command: Command) => {
  try {
    process.send?.({ answer: (await answer(command)) ?? null });
  } catch (error) {
    process.send?.({ failure: String(error) });
  }
});
process.on("disconnect", () => process.exit());
