import { type ChildProcess, spawn } from "node:child_process";
import { PassThrough, type Readable } from "node:stream";
import type { Halt } from "./halt.js";
import { killMarked, MARK } from "./process-marks.js";

export interface Launch {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** By which everything it starts is found again at its end; null for programs that start nothing lasting. */
  readonly mark: string | null;
}

/** How a process ended. */
export interface ProcessExit {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** How often pipes are looked at that something still holds open after the program's end, in milliseconds. */
const PIPE_LOOK_MS = 250;

/**
 * A program with everything it starts: a process group of its own, ended as a whole.
 *
 * 1. The program's end is the group's: what it left running is killed then, also what left the group (by its mark).
 * 2. What was printed up to then can still be read, however slowly.
 */
export class ProcessGroup {
  readonly child: ChildProcess;
  /** What it prints, kept from the first byte on: node throws away what nobody listens to when a program ends. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the program is over and its pipes are read to their end. */
  readonly ended: Promise<ProcessExit>;
  readonly #mark: string | null;

  private constructor(child: ChildProcess, mark: string | null) {
    this.child = child;
    this.#mark = mark;
    const out = new PassThrough();
    const err = new PassThrough();
    child.stdout?.pipe(out);
    child.stderr?.pipe(err);
    this.stdout = out;
    this.stderr = err;
    child.once("exit", () => {
      this.kill();
      this.#watchPipes();
    });
    this.ended = new Promise((resolve) => {
      child.once("close", (exitCode, signal) => {
        out.end();
        err.end();
        resolve({ exitCode, signal });
      });
    });
    child.stdin?.on("error", () => undefined);
  }

  /** Starts the program. Rejects when it cannot be started (`ENOENT`: there is no such program). */
  static start({ argv, cwd, env, mark }: Launch): Promise<ProcessGroup> {
    const [program, ...args] = argv;
    const marks = mark === null ? {} : { [MARK]: mark };
    const child = spawn(program, args, {
      cwd,
      env: { ...env, ...marks },
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
    });
    return new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("spawn", () => resolve(new ProcessGroup(child, mark)));
    });
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** Ends it when the run is halted: SIGTERM first, SIGKILL once killing begins. Gives what ends the watch. */
  obey(halt: Halt): () => void {
    const stop = () => killGroup(this.pid, "SIGTERM");
    const kill = () => this.kill();
    if (halt.stopping.aborted) kill();
    halt.stopping.addEventListener("abort", stop, { once: true });
    halt.killing.addEventListener("abort", kill, { once: true });
    return () => {
      halt.stopping.removeEventListener("abort", stop);
      halt.killing.removeEventListener("abort", kill);
    };
  }

  /** SIGKILL to all of it at once. */
  kill(): void {
    killGroup(this.pid, "SIGKILL");
    if (this.#mark !== null) killMarked(this.#mark);
  }

  /** A process that left the group and hid its mark may hold the pipes open: once they are read empty, they close. */
  #watchPipes(): void {
    let idle = 0;
    const pipes = [this.child.stdout, this.child.stderr, this.stdout, this.stderr];
    const look = setInterval(() => {
      idle = pipes.every((pipe) => (pipe?.readableLength ?? 0) === 0) ? idle + 1 : 0;
      if (idle < 2) return;
      this.child.stdout?.destroy();
      this.child.stderr?.destroy();
    }, PIPE_LOOK_MS);
    void this.ended.then(() => clearInterval(look));
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
