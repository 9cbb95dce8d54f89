import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { startTime } from "../../wire/process-start.js";

/**
 * Every program of a run has a mark in its environment. By this mark, the runner finds all processes that the program
 * started, even outside its process group. The runner reads the marks from `/proc`. On systems without `/proc`, it ends
 * only process groups.
 */

/** The variable with the mark; child processes inherit it. */
export const MARK = "SIGNALBOX_MARK";

/**
 * Maximum number of rounds over all processes. Several rounds are needed, because a process may start another one
 * during a round.
 */
const ROUNDS = 100;

/** Time limit for killed processes to disappear, in milliseconds. */
const GONE_MS = 5_000;
const GONE_POLL_MS = 5;

/** Kills every process whose mark has this prefix. The processes no longer run, but may not have disappeared yet. */
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

/** Like {@link killMarked}, but resolves when the processes have disappeared, or after {@link GONE_MS}. */
export async function endMarked(prefix: string): Promise<void> {
  for (let waited = 0; waited < GONE_MS; waited += GONE_POLL_MS) {
    if (marked(prefix).length === 0) return;
    killMarked(prefix);
    await pause(GONE_POLL_MS);
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
      // The process has ended, or belongs to another user, so it does not count.
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
    // Ignore the error: the process has already ended.
  }
}

/** The text that identifies a process in a file: its pid and its start time. */
export function toNote(pid: number): string {
  return `${pid} ${startTime(pid) ?? "unknown"}`;
}

/**
 * Returns the pid in a note if that process still runs. Returns null if it has ended, even if its pid is in use again.
 */
export function aliveByNote(note: string): number | null {
  const [pidText, started] = note.trim().split(" ");
  const pid = Number(pidText);
  if (!Number.isInteger(pid) || pid <= 1 || started === undefined) return null;
  return startTime(pid) === started ? pid : null;
}
