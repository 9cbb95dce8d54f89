import { readdirSync } from "node:fs";
import t from "tap";
import { Demo, type DemoCommand, demoProgram } from "../../support/demo-process.js";
import { until } from "../../support/until.js";

/** What the demo's replays and the run that they repeat left: the checkouts of each run. */
async function leftByReplays({ name, value, url }: DemoCommand) {
  const get = async <Body>(address: string) =>
    (await (await fetch(address, { headers: { [name]: value } })).json()) as Body;
  const sets = (await get<{ items: { id: string; name: string }[] }>(url)).items;
  const set = sets.find((one) => one.name === "Sent back by review");
  const { items } = await get<{ items: Replay[] }>(`${url}/${set?.id}/replays`);
  const left = async (runId = "") => {
    const { checkouts } = await get<{ checkouts: { base: string; diff: string }[] }>(
      `${new URL(url).origin}/api/runs/${runId}`,
    );
    return checkouts;
  };
  const copyIn = (kind: string) => items.find(({ candidate }) => candidate.kind === kind)?.entries[0];
  const [live, proposed] = [copyIn("live"), copyIn("proposed")];
  return {
    original: await left(live?.originalRunId),
    live: await left(live?.runId),
    proposed: await left(proposed?.runId),
  };
}

interface Replay {
  readonly candidate: { readonly kind: string };
  readonly entries: readonly { readonly runId: string; readonly originalRunId: string }[];
}

t.test("it stays up for looking around, as it says how, until it is ended", async (t) => {
  const demo = new Demo(t);
  await demo.printed("/replays\n");
  const commands = demo.commands();
  t.equal(commands.length, 8);
  for (const [index, { name, value, url }] of commands.entries()) {
    const answer = await fetch(url, { headers: { [name]: value } });
    t.equal(answer.status, 200);
    t.ok(((await answer.json()) as { items: unknown[] }).items.length >= ([1, 1, 3, 8, 8, 2, 1, 3][index] ?? 0));
  }
  const sets = commands.find(({ url }) => url.endsWith("/replay-sets"));
  if (sets === undefined) throw new Error("there is no command for replay sets");
  const { original, live, proposed } = await leftByReplays(sets);
  t.match(original, [{ repository: "acme/project", base: /^[0-9a-f]{40}$/, diff: /^\+# Fencing tokens$/m }]);
  t.same(live, original, "a run that is replayed with nothing changed leaves the same tree");
  t.match(proposed, [{ base: original[0]?.base, diff: /^\+- \[Fencing tokens\]/m }]);
  t.equal(await demo.end("SIGINT"), 0);
  t.same(readdirSync(demo.temporary), []);
  t.same(demo.leftRunning(), []);
});

t.test("ended in the middle of the work it leaves no process and no folder", async (t) => {
  const demo = new Demo(t);
  t.equal(await demo.endAt(": running at work", "SIGINT"), 130);
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
