import { deepEqual, equal, match } from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";

/**
 * `node dist/test/packed/six-commands.js <signalbox>` runs the commands of the section "Try it" in README.md, with an
 * installed package, an empty home folder and a small repository. Prints the seconds of each step, and ends with an
 * error at the first step that fails.
 *
 * The steps: `signalbox dev`, a finished task, an answered question, an applied diff and a compared replay.
 */
const [signalbox = "signalbox"] = process.argv.slice(2);

const commands = [
  "signalbox dev",
  'signalbox task open "The tests fail" --follow',
  'signalbox task open "Which test is flaky?"',
  "signalbox inbox",
  'signalbox task answer "The second one" --follow',
  "signalbox run diff --apply",
  'echo "Answer in one line." > better.md',
  "signalbox replay --prompt better.md --ceiling 2USD",
];

const root = mkdtempSync(join(tmpdir(), "signalbox-packed-"));
const repository = join(root, "repository");
const env = { PATH: process.env.PATH ?? "", HOME: join(root, "home"), NO_COLOR: "1" };
const beganMs = performance.now();
const started: ChildProcess[] = [];

/** Starts the command with these arguments, without a terminal. */
function start(...words: readonly string[]) {
  const child = spawn(signalbox, words, { cwd: repository, env, stdio: ["ignore", "pipe", "pipe"] });
  started.push(child);
  return child;
}

/** Runs a command to its end; returns what it prints. */
async function run(...words: readonly string[]): Promise<string> {
  const child = start(...words);
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  equal(code, 0, `signalbox ${words.join(" ")}\n${out}${err}`);
  return out;
}

/** Resolves with the output of a command once the output matches. Rejects if the command exits first. */
function printed({ stdout }: ReturnType<typeof start>, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let out = "";
    stdout.setEncoding("utf8");
    stdout.on("data", (part: string) => {
      out += part;
      if (pattern.test(out)) resolve(out);
    });
    stdout.once("end", () => reject(new Error(`it ended before it printed ${pattern}:\n${out}`)));
  });
}

let stepMs = beganMs;
function report(what: string): void {
  const nowMs = performance.now();
  console.log(`${((nowMs - stepMs) / 1_000).toFixed(1).padStart(6)} s  ${what}`);
  stepMs = nowMs;
}

function git(...args: readonly string[]): string {
  return execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...args], {
    cwd: repository,
    env,
    encoding: "utf8",
  });
}

async function main(): Promise<void> {
  const lines = readFileSync("README.md", "utf8").split("\n");
  const written = lines.map((line) => line.replace(/ +# .*$/, ""));
  deepEqual(
    written.filter((line) => /^(signalbox|echo) /.test(line)),
    commands,
    "README.md has these commands, in this order",
  );
  mkdirSync(repository);
  mkdirSync(env.HOME);
  git("init", "--quiet");
  writeFileSync(join(repository, "README.md"), "A small project.\n");
  git("add", ".");
  git("commit", "--quiet", "--message", "Begin");

  const dev = start("dev", "--port", "0");
  await printed(dev, /^log .*$/m);
  report("signalbox dev");

  match(await run("task", "open", "The tests fail", "--follow"), /\ndone$/m);
  report("a first task done");

  await run("task", "open", "Which test is flaky?");
  let inbox = "";
  for (let tries = 0; tries < 100 && inbox === ""; tries += 1) {
    await pause(200);
    inbox = await run("inbox");
  }
  match(inbox, /What is the answer/);
  match(await run("task", "answer", "The second one", "--follow"), /\ndone$/m);
  report("a question answered");

  await run("run", "diff", "--apply");
  const note = readFileSync(join(repository, "signalbox-notes/which-test-is-flaky.md"), "utf8");
  match(note, /The second one/);
  equal(git("status", "--porcelain"), "A  signalbox-notes/which-test-is-flaky.md\n");
  report("its diff applied");

  writeFileSync(join(repository, "better.md"), "Answer in one line.\n");
  const compared = await run("replay", "--prompt", "better.md", "--ceiling", "2USD");
  match(compared, /^(better|worse|within noise|equal)[^\n]*: [\d.]+ % against [\d.]+ %/);
  report("a replay compared");

  dev.kill("SIGINT");
  const [code] = await once(dev, "close");
  equal(code === 0 || code === 130, true, `signalbox dev ended with ${code}`);
  report("signalbox dev drained");
  console.log(`${((performance.now() - beganMs) / 1_000).toFixed(1)} s in all`);
}

try {
  await main();
} finally {
  for (const child of started) child.kill("SIGKILL");
  rmSync(root, { recursive: true, force: true });
}
