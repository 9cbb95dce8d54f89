import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
import { Alone } from "./support/alone.js";
import { leftBehind, picture } from "./support/left-behind.js";

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
  writeFileSync(join(folder, "seen.mjs"), "export const seen = { n: 0 };");
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
  const { output, lastLine } = await runFiles(t, { hanging: holdsOpen, passing }, "--limit", "4", "--jobs", "1");
  t.equal(lastLine, "2 passed, 1 failed");
  t.match(output, /\nFAILED \S+hanging\.test\.mjs: ended by SIGALRM\n {2}not ok waits > timeout!\n[\s\S]*type: Server/);
});

const holdsOpen = `import { createServer } from "node:http";
  t.test("waits", async () => { createServer().listen(0); await new Promise(() => undefined); });`;

/** Bodies of files that fail, each in a way of its own: what is said of it. */
const bad = {
  "has-a-false-check": [`t.test("adds", async (t) => t.equal(2, 3, "sum"));`, "not ok adds > sum"],
  "is-killed": [`t.test("dies", async () => { process.kill(process.pid, "SIGSEGV"); await 0; });`, "ended by SIGSEGV"],
  "exits-in-a-test": [`t.test("leaves", async () => process.exit(0));`, "exit code 1"],
  "exits-between-tests": [
    `await t.test("holds", async (t) => t.ok(1)); process.exit(0);`,
    "it broke off before its end",
  ],
  "has-no-checks": ["t.ok;", "it has no checks"],
  "cannot-be-loaded": [`import "./missing.js";`, "Cannot find module"],
  "throws-while-it-is-loaded": [
    `t.test("holds", async (t) => t.ok(1)); throw new Error("thrown too early");`,
    "thrown too early",
  ],
  "waits-while-it-is-loaded": [`await new Promise(() => undefined);`, "it broke off before its end"],
  "blocks-for-ever": ["Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);", "killed after 7 s"],
  "leaves-a-global": [
    `t.test("leaves", async (t) => t.ok(Object.assign(globalThis, { left: 1 })));`,
    "what a file begins it also ends",
  ],
  "ends-badly-after-all-its-checks-held": [
    `t.ok(1); process.on("exit", () => process.kill(process.pid, "SIGKILL"));`,
    "ended by SIGKILL",
  ],
  "checks-after-its-tests-end": [
    `t.test("ends", async (t) => setTimeout(() => t.ok(1), 50));`,
    "test assertion after Promise resolution",
  ],
  "rejects-where-nobody-listens": [
    `t.test("waits", async () => { Promise.reject(new Error("lost")); await new Promise(setImmediate); });`,
    "lost",
  ],
  "rejects-after-its-end": [
    `t.test("ends", async () => void setTimeout(() => Promise.reject(new Error("lost late")), 50));`,
    "lost late",
  ],
} as const;

/** What is said of each of the files that fail, and of those that stand before and after it. */
function checkTold(t: Test, { code, output }: Ran): void {
  t.equal(code, 1);
  const [live = "", last = ""] = output.split("\nThe slowest of ");
  const told = (name: string) => live.split("\n").filter((line) => line.endsWith(`/${name}.test.mjs`));
  const [, ...abouts] = last.split("\nFAILED ");
  for (const [name, [, said]] of Object.entries(bad)) {
    t.match(told(`${name}-2`), [/^FAILED/], `${name}: once, as failed`);
    const about = abouts.find((part) => part.includes(`/${name}-2.test.mjs`));
    t.ok(about?.includes(said), `${name}: ${said} in ${about}`);
  }
  for (const name of Object.keys(bad)) t.match(told(`${name}-3`), [/^ok/], `what comes after ${name}`);
}

t.test("a file that fails is told of by its name, and is the only one in its process that does", async (t) => {
  const bodies = Object.entries(bad).map(([name, [body]]) => ({ [`${name}-2`]: body, [`${name}-3`]: passing }));
  const all = Object.assign({}, ...bodies);
  checkTold(t, await runFiles(t, all, "--together", String(Object.keys(all).length), "--limit", "2"));
});

t.test("a file that fails alone fails all", async (t) => {
  for (const name of [
    "has-a-false-check",
    "exits-between-tests",
    "cannot-be-loaded",
    "rejects-after-its-end",
  ] as const) {
    const { code, lastLine } = await runFiles(t, { [name]: bad[name][0] });
    t.equal(code, 1, name);
    t.match(lastLine, /^[01] passed, [12] failed$/, name);
  }
});

t.test("files that share a process have each its own checks, and one that fails ends it", async (t) => {
  const failing = `t.test("adds", async (t) => { t.ok(1); t.equal(2, 3, "sum"); });`;
  const sharing = (n: number) =>
    `import { seen } from "./seen.mjs"; t.test("sees", async (t) => { seen.n += 1; t.equal(seen.n, ${n}); });`;
  const bodies = { a: sharing(1), "b # c": `${passing} t.ok(1);`, c: sharing(2), d: failing, e: sharing(1) };
  const { code, output, lastLine } = await runFiles(t, bodies, "--together", "9");
  t.equal(lastLine, "7 passed, 1 failed", "a module is there once, for as long as they share the process");
  t.equal(code, 1);
  t.match(output, /\nFAILED \S+d\.test\.mjs: exit code 1\n {2}not ok adds > sum\n/);
  t.match(output, /\nok +\S+ s \S+b # c\.test\.mjs\n/);
  t.equal(output.match(/^FAILED/gm)?.length, 2, "once in its place, once at the end");
});

const { on, off, chdir, umask, cwd } = process;

/** What a file can leave behind, by what is said of it, and how that is undone. */
const leaving: Readonly<Record<string, () => () => unknown>> = {
  "keeps up: 1 × Timeout": () => {
    const timer = setInterval(() => 0, 1_000);
    return () => clearInterval(timer);
  },
  "keeps up: 1 × TCPServerWrap": () => {
    const server = createServer().listen(0);
    return () => server.close();
  },
  "listens to the process: 1 × SIGUSR2": () => {
    const listener = () => 0;
    on.call(process, "SIGUSR2", listener);
    return () => off.call(process, "SIGUSR2", listener);
  },
  "the environment's LEFT is another": () => {
    process.env.LEFT = "1";
    return () => delete process.env.LEFT;
  },
  "the working folder is /": () => {
    const before = cwd();
    chdir("/");
    return () => chdir(before);
  },
  "the umask is 27": () => {
    const before = umask(0o27);
    return () => umask(before);
  },
  "Date.now is another": () => {
    const { now } = Date;
    Date.now = () => now() + 1;
    return () => Object.assign(Date, { now });
  },
  "globalThis.setInterval is another": () => {
    const { setInterval } = globalThis;
    Object.assign(globalThis, { setInterval: () => 0 });
    return () => Object.assign(globalThis, { setInterval });
  },
  "globalThis.left is new": () => {
    Object.assign(globalThis, { left: 1 });
    return () => Reflect.deleteProperty(globalThis, "left");
  },
};

t.test("what a file leaves behind is found, and nothing is when it ended all", async (t) => {
  const before = picture();
  for (const [said, leave] of Object.entries(leaving)) {
    const undo = leave();
    const left = await leftBehind(before, 0);
    undo();
    t.same(left, [said]);
    t.same(await leftBehind(before), [], "it waits for what is being closed");
  }
});

t.test("who needs a process alone is seen by what a file does, itself or through a module of the tests", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-alone-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const bodies = {
    "starts.js": `import { spawn } from "node:child_process";\nspawn("true");`,
    "sets.js": `process.env.LEFT = "1";`,
    "sets-any.js": `process.env[name] = "1";`,
    "unsets.js": "delete process.env.LEFT;",
    "hooks.js": "globalThis.setTimeout = () => 0;",
    "hears.js": `process.once("SIGHUP", () => 0);`,
    "imports.js": `import { a } from "./between.js";`,
    "between.js": `import "./imports.js";\nexport * from "./sets.js";`,
    "reads.js": `import { a } from "../product.js";\nimport { b } from "./plain.js";\nok(process.env.LEFT === "1");`,
    "plain.js": "export const b = process.pid;",
  };
  for (const [name, body] of Object.entries(bodies)) writeFileSync(join(folder, name), `${body}\n`);
  const alone = new Alone(folder);
  const names = Object.keys(bodies);
  t.same(
    names.filter((name) => !alone.has(join(folder, name))),
    ["reads.js", "plain.js"],
  );
  t.ok(alone.has(join(folder, "missing.js")));
  t.end();
});

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
