import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";

const program = fileURLToPath(new URL("./run.js", import.meta.url));
const tapModule = import.meta.resolve("tap");

interface Ran {
  readonly code: unknown;
  readonly output: string;
  readonly lastLine: string;
}

/** Runs test files of these bodies, by name, as `npm test` does. */
async function runFiles(t: Test, bodies: Readonly<Record<string, string>>, ...args: string[]): Promise<Ran> {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-run-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const files = Object.entries(bodies).map(([name, body]) => {
    const file = join(folder, `${name}.test.mjs`);
    writeFileSync(file, `import t from ${JSON.stringify(tapModule)};\n${body}\n`);
    return file;
  });
  const child = spawn(process.execPath, [program, ...args, ...files], { stdio: ["ignore", "pipe", "inherit"] });
  t.teardown(() => void child.kill("SIGKILL"));
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "close")]);
  return { code, output, lastLine: output.trimEnd().split("\n").at(-1) ?? "" };
}

const passing = `t.test("holds", async (t) => { t.ok(1); t.ok(1); });`;

t.test("files whose checks all hold end with their count and code 0", async (t) => {
  const skipping = `t.test("is left out", { skip: "no peer" }, async (t) => t.ok(0)); t.ok(1);`;
  const { code, output, lastLine } = await runFiles(t, { passing, skipping });
  t.equal(lastLine, "3 passed, 0 failed");
  t.equal(code, 0);
  t.notMatch(output, "FAILED");
});

t.test("a check that fails is told last, by file, test and what differs", async (t) => {
  const failing = `t.test("adds", (t) => { t.test("one and one", async (t) => { t.ok(1); t.equal(2, 3, "sum"); }); t.end(); });`;
  const { code, output, lastLine } = await runFiles(t, { failing, passing });
  t.equal(lastLine, "3 passed, 1 failed");
  t.equal(code, 1);
  t.match(
    output,
    /\nFAILED \S+failing\.test\.mjs: exit code 1\n {2}not ok adds > one and one > sum\n[\s\S]*-3\n[\s\S]*\+2\n/,
  );
});

t.test("a test that waits for ever is ended, with what it holds open, and the files after it are run", async (t) => {
  const hanging = `import { createServer } from "node:http";
    t.test("waits", async () => { createServer().listen(0); await new Promise(() => undefined); });`;
  const { output, lastLine } = await runFiles(t, { hanging, passing }, "--limit", "4", "--jobs", "1");
  t.equal(lastLine, "2 passed, 1 failed");
  t.match(output, /\nFAILED \S+hanging\.test\.mjs: ended by SIGALRM\n {2}not ok waits > timeout!\n[\s\S]*type: Server/);
});

const endings = {
  "is killed": [`t.test("dies", async () => { process.kill(process.pid, "SIGSEGV"); await 0; });`, "ended by SIGSEGV"],
  "exits in a test": [`t.test("leaves", async () => process.exit(0));`, "exit code 1"],
  "cannot be loaded": [`import "./missing.js";`, "exit code 1"],
  "ends badly after all its checks held": [
    `t.ok(1); process.on("exit", () => process.kill(process.pid, "SIGKILL"));`,
    "ended by SIGKILL",
  ],
  "checks after its test's end": [`t.test("ends", async (t) => setTimeout(() => t.ok(1), 50));`, "exit code 1"],
  "rejects where nobody listens": [
    `t.test("waits", async () => { Promise.reject(new Error("lost")); await new Promise(setImmediate); });`,
    "exit code 1",
  ],
} as const;
for (const [what, [body, ending]] of Object.entries(endings)) {
  t.test(`a file that ${what} counts as failed`, async (t) => {
    const { code, output, lastLine } = await runFiles(t, { passing, bad: body });
    t.match(lastLine, /^[23] passed, [1-9] failed$/);
    t.equal(code, 1);
    t.match(output, `bad.test.mjs: ${ending}`);
  });
}

t.test("what breaks off is told with the lines before", async (t) => {
  const body = `t.test("writes", async () => { console.error("on the way"); await 0; process.kill(process.pid, "SIGKILL"); });`;
  const { output } = await runFiles(t, { body });
  t.match(output, "it broke off");
  t.match(output, "| on the way");
});

t.test("processes that a file leaves behind end with it", async (t) => {
  const leaving = `import { spawn } from "node:child_process";
    t.test("leaves one", async (t) => {
      const child = spawn(process.execPath, ["-e", "setInterval(() => 0, 1000)"], { stdio: ["ignore", "inherit", "inherit"] });
      child.unref();
      t.ok(child.pid);
    });`;
  const { lastLine } = await runFiles(t, { leaving }, "--limit", "20");
  t.equal(lastLine, "1 passed, 0 failed", "although the one that was left holds the output open");
});

t.test("a file that does not exist counts as failed", async (t) => {
  const { code, output, lastLine } = await runFiles(t, {}, "/nowhere/missing.test.js");
  t.equal(lastLine, "0 passed, 1 failed");
  t.match(output, "Cannot find module");
  t.equal(code, 1);
});
