import { readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, relative } from "node:path";
import { readArguments } from "./support/command-line.js";
import { useMemoryFolder } from "./support/memory-folder.js";
import { SharingRules } from "./support/sharing-rules.js";
import { type FileResult, isPassed, runTestFiles } from "./support/test-file.js";
import { type Dealing, WaitingFiles } from "./support/waiting-files.js";

const USAGE = `npm test -- [FILE …] [--jobs N] [--limit 180] [--together N] [--seed N]

  FILE          test files of dist; without one, all
  --jobs N      processes at once
  --limit N     seconds that each file may take
  --together N  files that may share a process
  --seed N      runs the files in an order of that number's`;

/**
 * `npm test` runs every test file. `npm test -- FILE…` runs the named files of dist, each in a separate process.
 * Options:
 *
 * - `--together N`: how many files may share a process, if {@link SharingRules} allows that.
 * - `--jobs N`: the number of concurrent processes. Default: the number of processors plus 1, because files also
 *   wait.
 * - `--limit N`: the time limit of each file, in seconds.
 * - `--seed N`: runs the files in an order derived from this number.
 *
 * The last line is always "N passed, N failed". Exits with 1 if a file failed.
 */
const { values, positionals } = readArguments(USAGE, {
  allowPositionals: true,
  options: {
    jobs: { type: "string", default: String(availableParallelism() + 1) },
    limit: { type: "string", default: "180" },
    seed: { type: "string" },
    together: { type: "string" },
  },
});

/** Number of files per process. Files share a process, because loading the product takes longer than most files. */
const TOGETHER: Dealing["together"] = { most: 60, least: 20 };
/** The slowest folders come first, so that no long file runs alone at the end. */
const FIRST = ["run.", "run-failing.", "processes/", "http/runner/", "simulation/", "contract/", "http/"];
const SLOWEST_SHOWN = 10;

const interrupted = new AbortController();
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(name, () => interrupted.abort());

const jobs = Number(values.jobs);
const files = inOrder(positionals.length > 0 ? positionals : testFiles());
const removeMemoryFolder = useMemoryFolder();
const results = await runAll(files);
removeMemoryFolder();
report(results);
const failed = results.reduce((sum, result) => sum + toFailures(result), 0) + files.length - results.length;
console.log(`${results.reduce((sum, { tap }) => sum + tap.passed, 0)} passed, ${failed} failed`);
if (failed > 0 || files.length === 0) process.exitCode = 1;

function testFiles(): string[] {
  return readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".test.js"))
    .map((name) => join(relative(process.cwd(), import.meta.dirname), name));
}

function inOrder(names: readonly string[]): string[] {
  if (values.seed !== undefined) return shuffled(names, Number(values.seed));
  const place = (name: string) => {
    const index = FIRST.findIndex((folder) => name.includes(`test/${folder}`));
    return index === -1 ? FIRST.length : index;
  };
  return [...names].sort((left, right) => place(left) - place(right) || (left < right ? -1 : 1));
}

function shuffled(names: readonly string[], seed: number): string[] {
  let state = seed >>> 0;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state;
  };
  return names
    .map((name) => ({ name, at: next() }))
    .sort((left, right) => left.at - right.at)
    .map(({ name }) => name);
}

async function runAll(names: readonly string[]): Promise<FileResult[]> {
  const results: FileResult[] = [];
  const rules = new SharingRules(import.meta.dirname);
  const waiting = new WaitingFiles(names, { sharingOf: (name) => rules.read(name), together: together(), jobs });
  const options = { limitMs: Number(values.limit) * 1_000, signal: interrupted.signal };
  const work = async () => {
    for (let files = waiting.deal(); files.length > 0 && !interrupted.signal.aborted; files = waiting.deal()) {
      const isStarting = files.some((file) => rules.read(file) === "starting");
      const run = await runTestFiles(files, { ...options, isStarting });
      results.push(...run.results);
      for (const result of run.results) announce(result);
      waiting.putBack(run.left);
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  return results;
}

/**
 * Returns the requested number of files per process. By default, each file that is named as an argument gets its own
 * process.
 */
function together(): Dealing["together"] {
  const asked = values.together ?? (positionals.length > 0 ? "1" : undefined);
  return asked === undefined ? TOGETHER : { most: Number(asked), least: Number(asked) };
}

function announce(result: FileResult): void {
  console.log(`${isPassed(result) ? "ok    " : "FAILED"} ${seconds(result.ms)} ${result.file}`);
  for (const line of result.errors) console.log(`           | ${line}`);
}

function report(results: readonly FileResult[]): void {
  const slowest = [...results].sort((left, right) => right.ms - left.ms).slice(0, SLOWEST_SHOWN);
  console.log(`\nThe slowest of ${results.length} files:`);
  for (const { file, ms } of slowest) console.log(`       ${seconds(ms)} ${file}`);
  const missing = files.filter((file) => results.every((result) => result.file !== file));
  if (missing.length > 0) console.log(`\nNot run: ${missing.join(", ")}`);
  for (const result of results.filter((each) => !isPassed(each))) reportFailed(result);
  console.log("");
}

function reportFailed(result: FileResult): void {
  const { tap, isComplete, ending, output } = result;
  console.log(`\nFAILED ${result.file}${ending === null ? "" : `: ${ending}`}`);
  for (const { path, diagnostics } of tap.failures) {
    console.log(`  not ok ${path.join(" > ")}`);
    for (const line of diagnostics) console.log(`      ${line}`);
  }
  if (isComplete && tap.passed + tap.failed + tap.skipped === 0) console.log("  it has no checks");
  if (isComplete) return;
  const within = tap.unended.length > 0 ? `within: ${tap.unended.join(" > ")}` : "before its end";
  console.log(`  it broke off ${within}; the last lines of its output:`);
  for (const line of [...output, ...result.errors]) console.log(`    | ${line}`);
}

/** Returns the number of failed checks. If a file failed without a failed check, returns 1. */
function toFailures(result: FileResult): number {
  return isPassed(result) ? 0 : Math.max(result.tap.failed, 1);
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1).padStart(6)} s`;
}
