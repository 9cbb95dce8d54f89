import { readdirSync, readFileSync } from "node:fs";

/** The length of a tick, the unit of times in `/proc`, in microseconds. It is the same for every Linux program. */
const MICROS_A_TICK = 10_000;

/** One process, with its own CPU time and that of its exited children. */
interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly ticks: number;
}

/** Returns the total CPU time of a process and its descendants, in microseconds, with a resolution of 10 ms. */
export function cpuMicrosOfTree(root: number): number {
  const processes = listProcesses();
  const toTicks = (one: Process): number =>
    processes.filter(({ parent }) => parent === one.pid).reduce((ticks, child) => ticks + toTicks(child), one.ticks);
  const found = processes.find(({ pid }) => pid === root);
  return found === undefined ? 0 : toTicks(found) * MICROS_A_TICK;
}

function listProcesses(): readonly Process[] {
  return readdirSync("/proc").flatMap((name) => {
    const pid = Number(name);
    const process = Number.isInteger(pid) ? readProcess(pid) : null;
    return process === null ? [] : [process];
  });
}

/** Reads a process's times; null if the process has exited. */
function readProcess(pid: number): Process | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name in parentheses can hold any character. After it: the state, the parent, nine other fields, then four
    // times.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return { pid, parent: Number(fields[1]), ticks };
  } catch {
    return null;
  }
}
