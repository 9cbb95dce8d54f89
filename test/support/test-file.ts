import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { type FileReport, SharedReading } from "./shared-reading.js";
import { TapReading, type TapReport } from "./tap-reading.js";

/** The result of one test file. */
export interface FileResult {
  readonly file: string;
  readonly ms: number;
  readonly tap: TapReport;
  /** Whether the file reached its end, with or without failed checks; false if it was interrupted. */
  readonly isComplete: boolean;
  /** Why the process ended abnormally during this file, as text; null if it ended normally. */
  readonly ending: string | null;
  /** The last lines of the file's standard output; at most {@link KEPT_LINES}. */
  readonly output: readonly string[];
  /** The last lines of the file's standard error; at most {@link KEPT_LINES}. */
  readonly errors: readonly string[];
}

export interface TestFileOptions {
  /** Time limit per file, in milliseconds; when it expires, tap reports the open tests. */
  readonly limitMs: number;
  /** Stops the files immediately. */
  readonly signal: AbortSignal;
  /** Whether the files start processes. */
  readonly isStarting: boolean;
}

export const KEPT_LINES = 40;
/** Time for tap to report open tests before the process is killed, in milliseconds. */
const GRACE_MS = 5_000;

const together = fileURLToPath(new URL("./together.js", import.meta.url));

/** Whether a file passed: it has checks, all passed, it reached its end, and the process ended normally. */
export function isPassed({ tap, isComplete, ending }: FileResult): boolean {
  return ending === null && isComplete && tap.failed === 0 && tap.passed + tap.skipped > 0;
}

/** The results of files that share a process. */
export interface SharedRun {
  /** Results of the files that ran, in order; the last file may have been interrupted. */
  readonly results: readonly FileResult[];
  /** Files that did not start because the process ended first. */
  readonly left: readonly string[];
}

/**
 * Runs test files one after another in one Node process with its own process group. Afterwards, kills the group,
 * including all processes that the files left running. Does not reject if a file fails.
 *
 * The process ends at the first file that fails. The result of the file that started last says how the process ended.
 */
export async function runTestFiles(files: readonly string[], options: TestFileOptions): Promise<SharedRun> {
  const word = randomUUID();
  const reading = new SharedReading(word);
  const results: FileResult[] = [];
  const output: string[] = [];
  const errors: string[] = [];
  let begunMs = performance.now();
  const add = ({ index, tap, isComplete }: FileReport, ending: string | null) => {
    const ms = performance.now() - begunMs;
    begunMs += ms;
    const [file = "", said, wrong] = [files[index], output.splice(0), errors.splice(0)];
    results.push({ file, ms, tap, isComplete, ending, output: said, errors: wrong });
  };
  const ending = await runProcess([together, word, ...files], options, {
    alarmed: () => reading.cut(),
    output: (line) => {
      const ended = reading.take(line);
      if (ended !== null) add(ended, null);
      keep(output, line);
      return ended !== null;
    },
    error: (line) => keep(errors, line),
  });
  const last = reading.current ?? { index: 0, tap: new TapReading().report(), isComplete: false };
  add(last, ending);
  return { results, left: files.slice(results.length) };
}

/**
 * A large young generation, in MiB: with the default of 16, garbage collection takes a tenth of the tests' time. Files
 * that start processes keep the default, because each fork copies the page tables of the memory in use.
 */
const LARGE_YOUNG_GENERATION = "--max-semi-space-size=64";
/**
 * Makes V8 optimize only code that runs four times as much as usual. Compiling optimized code takes a fifth of the time
 * of files that start services, and most files end before that pays off. From Node 22 on, V8 has an additional, cheaper
 * compiler, and later versions do not have this flag.
 */
const LATE_OPTIMIZATION = Number.parseInt(process.versions.node, 10) < 22 ? ["--interrupt-budget=600000"] : [];

interface Hearing {
  /** Handles a line of standard output. Returns true if the line starts the next file; the time limit then restarts. */
  readonly output: (line: string) => boolean;
  readonly error: (line: string) => void;
  /** Called when the current file's time limit expires. */
  readonly alarmed: () => void;
}

/** Runs a Node program; returns why it ended abnormally, as text, or null. */
async function runProcess(
  args: readonly string[],
  { limitMs, signal, isStarting }: TestFileOptions,
  hearing: Hearing,
): Promise<string | null> {
  const env = { ...process.env, TAP: "1", TAP_TIMEOUT: "0" };
  const flags = [...LATE_OPTIMIZATION, ...(isStarting ? [] : [LARGE_YOUNG_GENERATION])];
  const child = spawn(process.execPath, [...flags, ...args], {
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let cut: string | null = null;
  const endGroup = (why: string) => {
    cut ??= why;
    killGroup(child.pid);
  };
  const alarm = () => {
    hearing.alarmed();
    child.kill("SIGALRM");
  };
  const timers = [
    setTimeout(alarm, limitMs),
    setTimeout(() => endGroup(`killed after ${(limitMs + GRACE_MS) / 1_000} s`), limitMs + GRACE_MS),
  ];
  readLines(child.stdout, (line) => {
    if (hearing.output(line)) for (const timer of timers) timer.refresh();
  });
  readLines(child.stderr, hearing.error);
  const onAbort = () => endGroup("interrupted");
  signal.addEventListener("abort", onAbort);
  child.once("exit", () => killGroup(child.pid));
  const ended = await once(child, "close").then(findEnding, (error: unknown) => `cannot be run: ${error}`);
  for (const timer of timers) clearTimeout(timer);
  signal.removeEventListener("abort", onAbort);
  return cut ?? ended;
}

function findEnding([code, signal]: readonly unknown[]): string | null {
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
