import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

/**
 * Marks in the environment, by which everything that a program started is found again: also what left its process
 * group. They are read from `/proc`; where there is none, only process groups are ended.
 */

/** The variable that holds a mark; it is passed on to whatever is started. */
export const MARK = "SIGNALBOX_MARK";

/** Rounds made over all processes at most: one may have been started while the last round was under way. */
const ROUNDS = 100;

/** How long killed processes have to be gone, in milliseconds: the system takes them down when it gets to it. */
const GONE_MS = 5_000;
/** How often it is looked whether they are, in milliseconds. */
const GONE_LOOK_MS = 5;

/** Kills every process whose mark begins so. They run no further, but may not be gone yet. */
export function killMarked(prefix: string): void {
  const killed = new Set<number>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const found = marked(prefix).filter((pid) => !killed.has(pid));
    if (found.length === 0) return;
    for (const pid of found) {
      killed.add(pid);
      kill(pid);
    }
  }
}

/** As {@link killMarked}; resolves when they are gone, or when the system has not ended them for {@link GONE_MS}. */
export async function endMarked(prefix: string): Promise<void> {
  for (let waited = 0; waited < GONE_MS; waited += GONE_LOOK_MS) {
    if (marked(prefix).length === 0) return;
    killMarked(prefix);
    await pause(GONE_LOOK_MS);
  }
}

function marked(prefix: string): number[] {
  const begin = `${MARK}=${prefix}`;
  return processes().filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, "utf8")
        .split("\0")
        .some((entry) => entry.startsWith(begin));
    } catch {
      // It is gone, or another user's.
      return false;
    }
  });
}

function processes(): number[] {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((pid) => pid > 1 && pid !== process.pid);
  } catch {
    return [];
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended by itself.
  }
}

/** When a process started, in the kernel's ticks since boot: with its pid it names one process for good. Null if gone. */
export function startTime(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
  } catch {
    return null;
  }
}

/** A process as it is noted in a file: its pid and when it started. */
export function noteOf(pid: number): string {
  return `${pid} ${startTime(pid) ?? "unknown"}`;
}

/** The pid of a noted process while that very process lives; a pid alone may have been given to another since. */
export function aliveByNote(note: string): number | null {
  const [pidText, started] = note.trim().split(" ");
  const pid = Number(pidText);
  if (!Number.isInteger(pid) || pid <= 1 || started === undefined) return null;
  return startTime(pid) === started ? pid : null;
}
