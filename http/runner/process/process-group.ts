import { type ChildProcess, spawn } from "node:child_process";
import { Duplex, PassThrough, type Readable } from "node:stream";
import type { Halt } from "./halt.js";
import { killMarked, MARK } from "./process-marks.js";

export interface Launch {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /**
   * When the program ends, the runner finds everything that it started by this mark. Null for programs that leave
   * nothing running.
   */
  readonly mark: string | null;
  /**
   * A secret that the program can read once from descriptor 3. The descriptor is a socket, which other processes of the
   * same user cannot open, unlike a pipe, a variable or an argument. Absent for none.
   */
  readonly secret?: string;
}

export interface ProcessExit {
  /** Null if a signal ended the process. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Interval between checks of pipes that are still open after the program's end, in milliseconds. */
const PIPE_POLL_MS = 250;

/**
 * A program with everything that it starts, in its own process group.
 *
 * 1. When the program ends, all processes that it left running are killed. With a mark, this includes processes that
 *    left the group.
 * 2. All output that was written before can still be read, however slowly.
 */
export class ProcessGroup {
  readonly child: ChildProcess;
  /**
   * The program's output, buffered from the first byte on: when a program ends, node drops output that has no listener.
   */
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the program has ended and its pipes are read to the end. */
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

  /** Starts the program. Rejects if it cannot start (`ENOENT`: there is no such program). */
  static start({ argv, cwd, env, mark, secret }: Launch): Promise<ProcessGroup> {
    const [program, ...args] = argv;
    const marks = mark === null ? {} : { [MARK]: mark };
    const child = spawn(program, args, {
      cwd,
      env: { ...env, ...marks },
      detached: true,
      stdio: secret === undefined ? ["pipe", "pipe", "pipe"] : ["pipe", "pipe", "pipe", "pipe"],
    });
    if (secret !== undefined) give(child, secret);
    return new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("spawn", () => resolve(new ProcessGroup(child, mark)));
    });
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /**
   * Ends the program when the run is halted: SIGTERM on `stopping`, SIGKILL on `killing`. If `stopping` is already
   * aborted, kills the program at once. Returns a function that stops listening to `halt`.
   */
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

  /** Sends SIGKILL to the whole group, and to everything with its mark. */
  kill(): void {
    killGroup(this.pid, "SIGKILL");
    if (this.#mark !== null) killMarked(this.#mark);
  }

  /** Closes the pipes once they are drained: a process that left the group and hid its mark may hold them open. */
  #watchPipes(): void {
    let idle = 0;
    const pipes = [this.child.stdout, this.child.stderr, this.stdout, this.stderr];
    const polling = setInterval(() => {
      idle = pipes.every((pipe) => (pipe?.readableLength ?? 0) === 0) ? idle + 1 : 0;
      if (idle < 2) return;
      this.child.stdout?.destroy();
      this.child.stderr?.destroy();
    }, PIPE_POLL_MS);
    void this.ended.then(() => clearInterval(polling));
  }
}

/**
 * Writes the secret to descriptor 3 and closes the descriptor. Ignores the error if the program does not read the
 * secret.
 */
function give(child: ChildProcess, secret: string): void {
  const into = child.stdio[3];
  if (!(into instanceof Duplex)) throw new Error("a program without the descriptor that it was to have");
  into.on("error", () => undefined);
  into.end(secret);
}

/** Signals a whole process group. Does nothing if the group has ended. */
export function killGroup(pid: number, signal: NodeJS.Signals): void {
  if (pid <= 1) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // Ignore the error: the group has already ended.
  }
}
