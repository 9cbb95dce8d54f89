import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { Alone } from "./support/alone.js";
import { leftBehind, picture } from "./support/left-behind.js";
import { passing, runFiles } from "./support/run-files.js";

t.test("files whose checks all hold end with their count and code 0", async (t) => {
  const skipping = `t.test("is left out", { skip: "no peer" }, async (t) => t.ok(0)); t.ok(1);`;
  const { code, output, lastLine } = await runFiles(t, { passing, skipping });
  t.equal(lastLine, "3 passed, 0 failed");
  t.equal(code, 0);
  t.notMatch(output, "FAILED");
});

t.test("runners say their usage, when asked and when they are called wrongly", async (t) => {
  const call = (name: string, argument: string) =>
    new Promise<{ readonly isFine: boolean; readonly out: string; readonly err: string }>((resolve) => {
      execFile(process.execPath, [join(import.meta.dirname, "..", `${name}.js`), argument], (error, out, err) =>
        resolve({ isFine: error === null, out, err }),
      );
    });
  const check = async (name: string) => {
    const asked = await call(name, "--help");
    t.match(asked, { isFine: true, out: /^(npm|node) /, err: /^$/ }, name);
    const wrong = await call(name, "--nonsense");
    t.match(wrong, { isFine: false, err: asked.out }, name);
    t.notMatch(wrong.err, /\n +at /, name);
  };
  await Promise.all(["test/run", "test/simulation/run", "bench/one"].map(check));
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
