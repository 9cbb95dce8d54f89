import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { ChildProgram } from "../processes/child-program.js";

/** What a fault needs of the machine besides Node. */
export type Tool = "mount" | "strace" | "prlimit";

/** System calls that bring a store to the disk. */
const FLUSHES = "fdatasync,fsync,msync";

/** Why this machine has none of that tool; null when it has. */
export async function whyMissing(tool: Tool): Promise<string | null> {
  if (tool === "mount") return whyNoMount();
  if (tool === "strace") return whyNoStrace();
  return spawnSync("prlimit", ["--version"]).error === undefined ? null : "prlimit is not installed";
}

function whyNoMount(): string | null {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-mount-"));
  try {
    mountSmall(folder, 1);
    unmount(folder);
    return null;
  } catch {
    return "a tmpfs cannot be mounted: that takes root";
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Attaches to a program of ours, as the fault does: some kernels let only a parent do that. */
async function whyNoStrace(): Promise<string | null> {
  if (spawnSync("strace", ["--version"]).error !== undefined) return "strace is not installed";
  const sleeper = new ChildProgram(spawn("sleep", ["5"], { stdio: "ignore" }));
  const ending = slowFlushes(sleeper.pid, 1);
  const isAttached = await Promise.race([pause(500, true), ending.over.then(() => false)]);
  await ending.stop();
  await sleeper.end("SIGKILL");
  return isAttached ? null : "strace may not attach to other processes";
}

/** Makes each flush of a process take that much longer. `over` resolves when that ends; `stop` ends it. */
export function slowFlushes(pid: number, ms: number) {
  const inject = `inject=${FLUSHES}:delay_enter=${ms * 1_000}`;
  const filter = ["-e", `trace=${FLUSHES}`, "-e", inject];
  const tracer = new ChildProgram(
    spawn("strace", ["-f", "-qq", "-p", `${pid}`, ...filter, "-o", "/dev/null"], { stdio: "ignore" }),
  );
  return {
    over: tracer.ended,
    stop: async () => {
      // It lets go of the process first; killed with -9 it may leave it stopped.
      await tracer.end("SIGTERM");
    },
  };
}

/** Mounts an empty disk of that many bytes in memory. */
export function mountSmall(folder: string, mebibytes: number): void {
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${mebibytes}m`, "tmpfs", folder], { stdio: "ignore" });
}

export function unmount(folder: string): void {
  execFileSync("umount", ["-l", folder], { stdio: "ignore" });
}

/** From now on that process may write no file beyond that many bytes. */
export function limitFileSize(pid: number, bytes: number): void {
  execFileSync("prlimit", ["--pid", `${pid}`, `--fsize=${bytes}:`], { stdio: "ignore" });
}
