import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import t from "tap";
import { Demo, demoProgram } from "../../support/demo-process.js";
import { until } from "../../support/until.js";

t.test("ended in the middle of the work it leaves no process and no folder; --short opens four tasks", async (t) => {
  const demo = new Demo(t, ["--short"]);
  t.equal(await demo.endAt(": running at work", "SIGINT"), 130);
  t.equal(demo.out.match(/: queued at work\n/g)?.length, 4);
  t.same(readdirSync(demo.temporary), []);
  t.same(demo.leftRunning(), []);
});

t.test("killed in the middle of the work it leaves no process", async (t) => {
  const demo = new Demo(t);
  t.equal(await demo.endAt(": running at work", "SIGKILL"), null);
  await until("its runner and agents to end", () => demo.leftRunning().length === 0);
  t.pass("they ended");
});

t.test("when the npm that started it is killed by SIGKILL, it ends and leaves no process and no folder", async (t) => {
  const starts = `require("child_process").spawn(process.execPath, [${JSON.stringify(demoProgram)}], { stdio: "inherit" })`;
  const npm = new Demo(t, [], ["-e", `${starts}; setInterval(() => 0, 1000)`]);
  await npm.printed(": running at work");
  npm.child.kill("SIGKILL");
  await until("the demo, its runner and agents to end", () => npm.leftRunning().length === 0);
  t.same(readdirSync(npm.temporary), []);
});

t.test("when npm is killed by SIGKILL while it compiles, the demo ends as soon as it starts", async (t) => {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
  const [, beginning = ""] = /^(.* && )?echo compiling .* && exec node \S+$/.exec(scripts.demo ?? "") ?? [];
  // Until the file exists, this shell compiles.
  const compiles = "echo compiling; while [ ! -e compiled ]; do sleep 0.05; done";
  const script = `${beginning}${compiles}; exec '${process.execPath}' '${demoProgram}'`;
  const starts = `require("child_process").spawn("sh", ["-c", ${JSON.stringify(script)}], { stdio: "inherit" })`;
  const npm = new Demo(t, [], ["-e", `${starts}; setInterval(() => 0, 1000)`]);
  await npm.printed("compiling");
  const killed = once(npm.child, "exit");
  npm.child.kill("SIGKILL");
  await killed;
  await npm.type("touch compiled");
  await until("the demo to end", () => npm.leftRunning().length === 0);
  t.same(readdirSync(npm.temporary), []);
});

t.test("--help prints the options and starts nothing", async (t) => {
  const demo = new Demo(t, ["--help"]);
  t.equal(await demo.end(null), 0);
  t.match(demo.out, /^npm run demo -- \[--short\] \[--exit\]\n[\s\S]*--exit +ends when the work is done/);
  t.same(readdirSync(demo.temporary), []);
});

t.test("an unknown option is refused and starts nothing", async (t) => {
  const demo = new Demo(t, ["--exti"]);
  t.equal(await demo.end(null), 1);
  t.equal(demo.out, "");
  t.same(readdirSync(demo.temporary), []);
});
