import { cp, mkdir, rm, stat, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Chance } from "../simulation/chance.js";
import type { Fault } from "./fault.js";
import { limitFileSize, mountSmall, slowFlushes, unmount } from "./machine-tools.js";
import { BEYOND_LEASE_MS, type World } from "./world.js";

const target = "service";
const MIB = 2 ** 20;
/** The small disk is larger than the store by this many MiB. When it is filled, `LEFT_BYTES` bytes stay free. */
const SMALL_ROOM_MIB = 4;
const LEFT_BYTES = 128 * 1024;
/** Time limit for a service that cannot write to exit, in milliseconds. */
const LATEST_END_MS = 15_000;
/** How long a kill waits for the next acknowledgement, in milliseconds. */
const LATEST_ANSWER_MS = 500;
const A_LONG_TEXT = 40_000;

/** A store that cannot grow. */
interface Full {
  /** Matches a line that the service prints before it exits. */
  readonly message: RegExp;
  readonly makeRoom: () => Promise<void>;
}

/** Faults of the service's process, its disk and its clock. */
export const serviceFaults: readonly Fault[] = [
  { name: "service killed", target, play: killed },
  { name: "service stopped", target, play: stopped },
  { name: "disk full", target, needs: "mount", play: diskFull },
  { name: "file limit", target, needs: "prlimit", play: fileLimit },
  { name: "slow fsync", target, needs: "strace", play: slowFsync },
  { name: "clock forward", target, play: clockForward },
  { name: "clock back", target, play: clockBack },
];

/**
 * Kills the service with SIGKILL, up to three times in a row. Before each kill, the service works for a moment. Some
 * kills follow immediately after an acknowledgement; others come at any time.
 */
async function killed({ service, ledger }: World, chance: Chance): Promise<void> {
  const times = chance.between(1, 3);
  for (let n = 0; n < times; n++) {
    await pause(chance.between(100, 700));
    if (chance.between(1, 3) > 1) await Promise.race([ledger.nextAcknowledged(), pause(LATEST_ANSWER_MS)]);
    await service.restart();
  }
}

/** Stops the service for longer than every lease. */
async function stopped({ service }: World): Promise<void> {
  service.life.signal("SIGSTOP");
  await pause(BEYOND_LEASE_MS);
  service.life.signal("SIGCONT");
}

/**
 * Moves the store to a small disk and fills this disk. Then frees space on it, lets the service continue there, and
 * moves the store back.
 */
async function diskFull(world: World, chance: Chance): Promise<void> {
  const { service, folder } = world;
  const home = service.dataFolder;
  const small = join(folder, "small");
  await service.end("SIGTERM");
  await mkdir(small, { recursive: true });
  const { size } = await stat(join(home, "data.mdb"));
  mountSmall(small, Math.ceil(size / MIB) + SMALL_ROOM_MIB);
  const leave = () => unmount(small);
  world.onEnd.add(leave);
  const data = join(small, "data");
  await cp(home, data, { recursive: true });
  await service.start(data);
  const { bavail, bsize } = await statfs(small);
  const ballast = join(small, "ballast");
  await writeFile(ballast, Buffer.alloc(Math.max(0, bavail * bsize - LEFT_BYTES)));
  await writeUntilItEnds(world, chance, { message: /is full: free disk space/, makeRoom: () => rm(ballast) });
  await pause(300);
  await service.end("SIGKILL");
  await cp(data, home, { recursive: true });
  leave();
  world.onEnd.delete(leave);
  await service.start(home);
}

/** Limits the size of the files that the service may write, so that its store cannot grow. */
async function fileLimit(world: World, chance: Chance): Promise<void> {
  const { service } = world;
  const { size } = await stat(join(service.dataFolder, "data.mdb"));
  limitFileSize(service.life.pid, size + LEFT_BYTES);
  // The next process has no size limit, so no space has to be freed.
  await writeUntilItEnds(world, chance, {
    message: /has reached the file size limit/,
    makeRoom: async () => undefined,
  });
}

/**
 * Opens tasks with long texts until the service exits by itself. A line of its output must match `full.message`. Then
 * frees space and starts the service again.
 */
async function writeUntilItEnds(world: World, chance: Chance, full: Full): Promise<void> {
  const { service, load, ledger } = world;
  service.expectEnd();
  const { life } = service;
  const latest = new AbortController();
  const writing = (async () => {
    while (life.isAlive && !latest.signal.aborted) await load.openTask(chance, A_LONG_TEXT);
  })();
  const isEnded = await Promise.race([life.ended.then(() => true), pause(LATEST_END_MS, false)]);
  latest.abort();
  if (!isEnded) {
    ledger.complaints.push(`the service did not end within ${LATEST_END_MS / 1_000} s of where it cannot write`);
    await service.end("SIGKILL");
  } else if (!life.output.some((line) => full.message.test(line))) {
    ledger.complaints.push(`the service did not say why it ended: ${life.output.at(-1)}`);
  }
  await full.makeRoom();
  await service.start();
  // The new process must answer the last write.
  await writing;
}

async function slowFsync({ service }: World, chance: Chance): Promise<void> {
  const slow = slowFlushes(service.life.pid, chance.between(20, 200));
  await pause(2_500);
  await slow.stop();
}

async function clockForward({ service }: World, chance: Chance): Promise<void> {
  await pause(chance.between(0, 1_000));
  service.stepClock(chance.between(30, 1_200) * 1_000);
}

/** Either sets the clock ahead and then back to the correct time, or only sets the correct clock back. */
async function clockBack({ service }: World, chance: Chance): Promise<void> {
  const byMs = chance.between(6, 600) * 1_000;
  if (chance.onceIn(2)) service.stepClock(byMs);
  await pause(1_000);
  service.stepClock(-byMs);
}
