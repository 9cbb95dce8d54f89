import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { ChildProgram } from "../processes/child-program.js";

/** A tool of the machine that a fault needs, in addition to Node. */
export type Tool = "mount" | "strace" | "prlimit";

/** System calls that flush a store to disk. */
const FLUSHES = "fdatasync,fsync,msync";

/** Returns why this machine lacks a tool; null if it has the tool. */
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

/**
 * Returns why strace cannot attach to another child of this process, which the fault requires. Returns null if it can.
 * On some kernels, only a process's parent can attach to it.
 */
async function whyNoStrace(): Promise<string | null> {
  if (spawnSync("strace", ["--version"]).error !== undefined) return "strace is not installed";
  const sleeper = new ChildProgram(spawn("sleep", ["5"], { stdio: "ignore" }));
  const ending = slowFlushes(sleeper.pid, 1);
  const isAttached = await Promise.race([pause(500, true), ending.over.then(() => false)]);
  await ending.stop();
  await sleeper.end("SIGKILL");
  return isAttached ? null : "strace may not attach to other processes";
}

/** Delays each flush of a process by this time. `stop` ends the delays. `over` resolves when strace has ended. */
export function slowFlushes(pid: number, ms: number) {
  const inject = `inject=${FLUSHES}:delay_enter=${ms * 1_000}`;
  const filter = ["-e", `trace=${FLUSHES}`, "-e", inject];
  const tracer = new ChildProgram(
    spawn("strace", ["-f", "-qq", "-p", `${pid}`, ...filter, "-o", "/dev/null"], { stdio: "ignore" }),
  );
  return {
    over: tracer.ended,
    stop: async () => {
      // SIGTERM makes strace detach first; SIGKILL could leave the process stopped.
      await tracer.end("SIGTERM");
    },
  };
}

/** Mounts an empty in-memory disk of this size. */
export function mountSmall(folder: string, mebibytes: number): void {
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${mebibytes}m`, "tmpfs", folder], { stdio: "ignore" });
}

export function unmount(folder: string): void {
  execFileSync("umount", ["-l", folder], { stdio: "ignore" });
}

/** Limits the size of files that the process may write from now on. */
export function limitFileSize(pid: number, bytes: number): void {
  execFileSync("prlimit", ["--pid", `${pid}`, `--fsize=${bytes}:`], { stdio: "ignore" });
}
