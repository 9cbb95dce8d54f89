import { readdirSync } from "node:fs";
import t, { type Test } from "tap";
import { Demo, type DemoCommand } from "../../support/demo-process.js";

/** Returns the checkouts that the demo's replay runs left, and those of the run that they replay. */
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

/** Checks what the demo printed about each of its parts. */
function checkPrinted(t: Test, demo: Demo): void {
  t.match(demo.out, /acme\/project is made for the demo, with 2 commits/);
  t.match(demo.out, /8 of 8 tasks done: \d+ steps, 18 moves, 5 sent back by review/);
  t.match(demo.out, /hooks fired: \d+ requests verified with standardwebhooks, 0 forged/);
  t.match(demo.out, /handovers refused by the before-hook: 1\n/);
  t.match(demo.out, /refused\. Reason: the note must name the file/);
  t.match(demo.out, /issue +ENG-1 gets the label agent; the tracker tells http:/);
  t.match(demo.out, /issue +its agent asks to call tracker\.set_state, and waits; Ada approves it\n/);
  t.match(demo.out, /issue +ENG-1, Signalbox: Wrote notes\/eng-1-approvals\.md\.\n/);
  t.match(demo.out, /issue +it is Done there; calls: read_issue done, comment done, set_state done\n/);
  t.match(
    demo.out,
    /pull +the workspace is connected to the code host 127\.0\.0\.1:\d+, whose app reaches acme\/project, acme\/config\n/,
  );
  t.match(
    demo.out,
    /pull +its runner pushed signalbox\/[0-9a-z]{8}-eng-1-approvals; the service opened #1 "ENG-1: Approvals"/i,
  );
  t.match(demo.out, /pull +it changes notes\/INDEX\.md, notes\/eng-1-approvals\.md\n/);
  t.match(demo.out, /pull +the code host told: it is merged; marks of the task: issue, thread\n/);
  t.match(demo.out, /event +pull-request\.merged: http:\S+\/acme\/project\/pull\/1\n/);
  t.match(demo.out, /fact +#1: opened \S+Z, first review \S+Z, merged \S+Z, 1 round of reviews\n/);
  t.match(demo.out, /Live config: 0 of 1 succeeded, for 0\.\d+ USD\. The judge: The note is missing from the index\./);
  t.match(demo.out, /Names the index: 1 of 1 succeeded, .* The judge: The note is listed in the index\./);
  t.match(demo.out, /with the answer: the live config again, .*\n.*With the answer Live config: 1 of 1 succeeded/);
  t.match(
    demo.out,
    /gain of Names the index over the live config: 1\.00 \(better, though a single task tells little\)/,
  );
  t.match(demo.out, /check +pull request #7 plans that prompt: passed, 0 of 1 tasks regressed/);
  t.match(demo.out, /search 5 tasks are searched, 3 are held out/);
  t.match(demo.out, /search seed: 40 % of searched tasks, 33 % of held-out ones/);
  t.match(demo.out, /search write-the-note-and: 100 % of searched tasks \(better\), 100 % of held-out ones/);
  t.match(demo.out, /search it ended \(iterations-used\) for 0\.\d+ USD; its best is write-the-note-and: It is .*\.\n/);
  t.match(demo.out, /pick +Gain on the tasks it was selected on: 60\.0 points \(20\.0 points .* n = 5 tasks: better/);
  t.match(
    demo.out,
    /pick +the best is picked; the service opened "Config of station work of line notes: write-the-note-and"/,
  );
  t.match(demo.out, /pick +Gain on held-out tasks: 66\.7 points .* n = 3 tasks: fewer than 5 tasks/);
  t.match(demo.out, /diff +-Write the note\.\n.*\n.*diff +\+Write the note, and list it in notes\/INDEX\.md\.\n/);
}

t.test("it does its work, and stays up for looking around, as it says how, until it is ended", async (t) => {
  const demo = new Demo(t);
  await demo.printed("/replays\n");
  checkPrinted(t, demo);
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
