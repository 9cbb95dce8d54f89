import { readdirSync, readFileSync } from "node:fs";

/**
 * Marks in the environment, by which everything that a program started is found again: also what left its process
 * group. They are read from `/proc`; where there is none, only process groups are ended.
 */

/** The variable that holds a mark; it is passed on to whatever is started. */
export const MARK = "SIGNALBOX_MARK";

/** Rounds made over all processes: one may have been started while the last round was under way. */
const ROUNDS = 5;

/** Kills every process whose mark begins so. Gives how many there were. */
export function killMarked(prefix: string): number {
  let killed = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const found = marked(prefix);
    if (found.length === 0) break;
    killed += found.length;
    for (const pid of found) kill(pid);
  }
  return killed;
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
