import { readFileSync } from "node:fs";

/**
 * A process's start, in kernel ticks since boot. Pid and start together are unique. Null if there is no such process,
 * or on systems without `/proc`.
 */
export function startTime(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
  } catch {
    return null;
  }
}
