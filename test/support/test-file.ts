import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { TapReading, type TapReport } from "./tap-reading.js";

/** The result of one test file, run in its own process. */
export interface FileResult {
  readonly file: string;
  readonly ms: number;
  readonly tap: TapReport;
  /** Why the process did not end normally, as text; null when it exited with code 0. */
  readonly ending: string | null;
  /** The last lines of its output; at most {@link KEPT_LINES}. */
  readonly output: readonly string[];
  /** The last lines of its standard error; at most {@link KEPT_LINES}. */
  readonly errors: readonly string[];
}

export interface TestFileOptions {
  /** Time after which tap is told to end, in milliseconds; it then reports open tests. */
  readonly limitMs: number;
  /** Ends the file at once. */
  readonly signal: AbortSignal;
}

export const KEPT_LINES = 40;
/** Time that tap has to report open tests before the process is killed, in milliseconds. */
const GRACE_MS = 5_000;

/** Whether all planned checks ran and passed, and the process ended normally. */
export function isPassed({ tap, ending }: FileResult): boolean {
  return ending === null && tap.complete && tap.failed === 0;
}

/**
 * Runs a test file under node, in its own process group, which is killed afterwards with all that the file left
 * running. Never rejects because of the file.
 */
export async function runTestFile(file: string, { limitMs, signal }: TestFileOptions): Promise<FileResult> {
  const begunMs = performance.now();
  const env = { ...process.env, TAP: "1", TAP_TIMEOUT: "0" };
  const args = ["--enable-source-maps", file];
  const child = spawn(process.execPath, args, { env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const tap = new TapReading();
  const output: string[] = [];
  const errors: string[] = [];
  readLines(child.stdout, (line) => {
    tap.take(line);
    keep(output, line);
  });
  readLines(child.stderr, (line) => keep(errors, line));
  let cut: string | null = null;
  const endGroup = (why: string) => {
    cut ??= why;
    killGroup(child.pid);
  };
  const timers = [
    setTimeout(() => child.kill("SIGALRM"), limitMs),
    setTimeout(() => endGroup(`killed after ${(limitMs + GRACE_MS) / 1_000} s`), limitMs + GRACE_MS),
  ];
  const onAbort = () => endGroup("interrupted");
  signal.addEventListener("abort", onAbort);
  child.once("exit", () => killGroup(child.pid));
  const ended = await once(child, "close").then(endingOf, (error: unknown) => `cannot be run: ${error}`);
  for (const timer of timers) clearTimeout(timer);
  signal.removeEventListener("abort", onAbort);
  const ending = cut ?? ended;
  return { file, ms: performance.now() - begunMs, tap: tap.report(), ending, output, errors };
}

function endingOf([code, signal]: readonly unknown[]): string | null {
  if (typeof signal === "string") return `ended by ${signal}`;
  return code === 0 ? null : `exit code ${code}`;
}

function readLines(stream: Readable, take: (line: string) => void): void {
  createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on("line", take);
}

function keep(lines: string[], line: string): void {
  lines.push(line.slice(0, 1_000));
  if (lines.length > KEPT_LINES) lines.shift();
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
