import { readFileSync } from "node:fs";

/**
 * Returns the start of a process, in kernel ticks since boot. Pid and start together are unique. Returns null if there
 * is no such process, or on systems without `/proc`.
 */
export function startTime(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
  } catch {
    return null;
  }
}
