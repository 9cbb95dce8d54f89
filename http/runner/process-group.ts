import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { PassThrough, type Readable } from "node:stream";

/** How long a group has to end after SIGTERM, in milliseconds. */
export const KILL_GRACE_MS = 5_000;

export interface Launch {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** How a process ended. */
export interface Ended {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A program with everything it starts: a process group of its own, ended as a whole. */
export class ProcessGroup {
  readonly child: ChildProcess;
  /** What it prints, kept from the first byte on: node throws away what nobody listens to when a program ends. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly ended: Promise<Ended>;
  #over = false;

  private constructor(child: ChildProcess) {
    this.child = child;
    this.stdout = child.stdout?.pipe(new PassThrough()) ?? new PassThrough().end();
    this.stderr = child.stderr?.pipe(new PassThrough()) ?? new PassThrough().end();
    this.ended = new Promise((resolve) => {
      child.once("close", (exitCode, signal) => {
        this.#over = true;
        resolve({ exitCode, signal });
      });
    });
    child.stdin?.on("error", () => undefined);
  }

  /** Starts the program. Rejects when it cannot be started (`ENOENT`: there is no such program). */
  static start({ argv, cwd, env }: Launch): Promise<ProcessGroup> {
    const [program, ...args] = argv;
    const child = spawn(program, args, { cwd, env: { ...env }, detached: true, stdio: ["pipe", "pipe", "pipe"] });
    const group = new ProcessGroup(child);
    return new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("spawn", () => resolve(group));
    });
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** SIGTERM to the group, SIGKILL to what is left of it after the grace time or once the leader is gone. */
  async stop(graceMs = KILL_GRACE_MS): Promise<void> {
    killGroup(this.pid, "SIGTERM");
    const timer = setTimeout(() => killGroup(this.pid, "SIGKILL"), graceMs);
    await this.ended;
    clearTimeout(timer);
    killGroup(this.pid, "SIGKILL");
  }

  /** SIGKILL at once. */
  kill(): void {
    killGroup(this.pid, "SIGKILL");
  }

  /** Ends what the leader left behind, once it is over itself. */
  sweep(): void {
    if (this.#over) killGroup(this.pid, "SIGKILL");
  }
}

/** Signals a whole group; one that is gone is fine. */
export function killGroup(pid: number, signal: NodeJS.Signals): void {
  if (pid <= 1) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // It is gone, which is what was wanted.
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
