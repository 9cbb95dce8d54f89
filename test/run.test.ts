import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { leftBehind, picture } from "./support/left-behind.js";
import { passing, runFiles } from "./support/run-files.js";
import { SharingRules } from "./support/sharing-rules.js";
import { WaitingFiles } from "./support/waiting-files.js";

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

/**
 * Ways in which a file can leave something behind. The keys are the expected reports. Each function leaves something
 * behind, and returns a function that removes it.
 */
const leaving: Readonly<Record<string, () => () => unknown>> = {
  "keeps up: 1 × Timeout": () => {
    const timer = setInterval(() => 0, 1_000);
    return () => clearInterval(timer);
  },
  "keeps up: 1 × TCPServerWrap": () => {
    const server = createServer().listen(0);
    return () => server.close();
  },
  "keeps up: 1 × process": () => {
    const child = spawn(process.execPath, ["-e", "setInterval(() => 0, 1000)"], { stdio: "ignore" });
    child.unref();
    return () => child.kill("SIGKILL");
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

t.test("who a file shares its process with is seen by what it does, itself or through a module of the tests", (t) => {
  const around = mkdtempSync(join(tmpdir(), "signalbox-sharing-"));
  t.teardown(() => rmSync(around, { recursive: true, force: true }));
  const folder = join(around, "test");
  const runner = join(around, "http/runner");
  for (const made of [folder, runner]) mkdirSync(made, { recursive: true });
  writeFileSync(join(runner, "program.js"), `import { spawn } from "node:child_process";\n`);
  const bodies = {
    "threads.js": `import { Worker } from "node:worker_threads";`,
    "hooks.js": "globalThis.setTimeout = () => 0;",
    "measures.js": `setFlagsFromString("--expose-gc");`,
    "imports.js": `import { a } from "./between.js";`,
    "between.js": `import "./imports.js";\nexport * from "./hooks.js";`,
    "both.js": `import { a } from "./starts.js";\nimport "./threads.js";`,
    "starts.js": `import { spawn } from "node:child_process";\nspawn("true");`,
    "imports-start.js": `import { a } from "./starts.js";`,
    "runs.js": `import { program } from "../http/runner/program.js";`,
    "sets.js": `process.env.LEFT = "1";`,
    "reads.js": `import { a } from "../product.js";\nimport { b } from "./plain.js";\nok(process.env.LEFT === "1");`,
    "plain.js": "export const b = process.pid;",
  };
  for (const [name, body] of Object.entries(bodies)) writeFileSync(join(folder, name), `${body}\n`);
  const rules = new SharingRules(folder);
  const names = Object.keys(bodies);
  const those = (sharing: string) => names.filter((name) => rules.read(join(folder, name)) === sharing);
  t.same(those("none"), ["threads.js", "hooks.js", "measures.js", "imports.js", "between.js", "both.js"]);
  t.same(those("starting"), ["starts.js", "imports-start.js", "runs.js"]);
  t.same(those("any"), ["sets.js", "reads.js", "plain.js"]);
  t.equal(rules.read(join(folder, "missing.js")), "none");
  t.end();
});

t.test("processes are dealt their files in order, by who shares with whom, and fewer towards the end", async (t) => {
  const files = ["s1", "n1", ...Array.from({ length: 12 }, (_, index) => `a${index}`), "s2", "n2"];
  const sharings = { s: "starting", n: "none", a: "any" } as const;
  const toSharing = (file: string) => sharings[file[0] as keyof typeof sharings];
  const waiting = new WaitingFiles(files, { sharingOf: toSharing, together: { most: 5, least: 2 }, jobs: 1 });
  const dealt = Array.from({ length: 5 }, () => waiting.deal().join(" "));
  t.same(dealt, ["s1 s2", "n1", "a0 a1 a2 a3 a4", "a5 a6 a7 a8", "a9 a10"]);
  waiting.putBack(["a7", "a8"]);
  t.same(
    Array.from({ length: 4 }, () => waiting.deal().join(" ")),
    ["a7 a8", "a11", "n2", ""],
  );
});

t.test("what breaks off is told with the lines before", async (t) => {
  const body = `t.test("writes", async () => { console.error("on the way"); await 0; process.kill(process.pid, "SIGKILL"); });`;
  const { output } = await runFiles(t, { body });
  t.match(output, "it broke off");
  t.match(output, "| on the way");
});

t.test("processes that a file leaves behind fail it and end with it", async (t) => {
  const leaving = `import { spawn } from "node:child_process";
    t.test("leaves one", async (t) => {
      const child = spawn(process.execPath, ["-e", "setInterval(() => 0, 1000)"], { stdio: ["ignore", "inherit", "inherit"] });
      child.unref();
      t.ok(child.pid);
    });`;
  const { output, lastLine } = await runFiles(t, { leaving }, "--limit", "20");
  t.equal(lastLine, "1 passed, 1 failed", "although the one that was left holds the output open");
  t.match(output, "keeps up: 1 × process");
});

t.test("a file that does not exist counts as failed", async (t) => {
  const { code, output, lastLine } = await runFiles(t, {}, "/nowhere/missing.test.js");
  t.equal(lastLine, "0 passed, 1 failed");
  t.match(output, "Cannot find module");
  t.equal(code, 1);
});
