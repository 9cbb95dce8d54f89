import t, { type Test } from "tap";
import { passing, type Ran, runFiles } from "./support/run-files.js";

/** Bodies of files that each fail in a different way, with the expected report. */
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
  "blocks-for-ever": ["Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);", "killed after 15 s"],
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

/** Checks the report on each failing file and on the files before and after it. */
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
  checkTold(t, await runFiles(t, all, "--together", String(Object.keys(all).length), "--limit", "10"));
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
