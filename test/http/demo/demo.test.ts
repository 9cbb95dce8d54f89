import { readdirSync, readFileSync } from "node:fs";
import t, { type Test } from "tap";
import { type Client, createClient } from "../../../http/client/entry.js";
import { listCommands } from "../../../http/demo/look-around.js";
import { Demo } from "../../support/demo-process.js";
import { signInOnPage } from "../../support/sign-in-page.js";

/** Returns the checkouts of the demo's replay runs, and the checkouts of the run that was replayed. */
async function leftByReplays(client: Client) {
  const [workspace] = (await client.get("/api/resources/workspaces")).items;
  const path = { workspaceId: workspace?.id ?? "" };
  const [team] = (await client.get("/api/resources/workspaces/{workspaceId}/teams", { path })).items;
  const teamId = team?.id ?? "";
  const sets = (await client.get("/api/teams/{teamId}/replay-sets", { path: { teamId } })).items;
  const setId = sets.find(({ name }) => name === "Sent back by review")?.id ?? "";
  const { items } = await client.get("/api/teams/{teamId}/replay-sets/{setId}/replays", { path: { teamId, setId } });
  const left = async (runId: string | null | undefined) =>
    (await client.get("/api/runs/{runId}", { path: { runId: runId ?? "" } })).checkouts;
  const copyIn = (kind: string) => items.find(({ candidate }) => candidate.kind === kind)?.entries[0];
  const [live, proposed] = [copyIn("live"), copyIn("proposed")];
  return {
    original: await left(live?.originalRunId),
    live: await left(live?.runId),
    proposed: await left(proposed?.runId),
  };
}

/** Checks what the demo printed about tasks, hooks, an issue and its pull request. */
function checkWork(t: Test, { out }: Demo): void {
  t.match(out, /acme\/project is made for the demo, with 2 commits/);
  t.match(out, /8 of 8 tasks done: \d+ steps, 18 moves, 5 sent back by review/);
  t.match(out, /hook firings: \d+ requests verified with standardwebhooks, 0 forged/);
  t.match(out, /handovers refused by the before-hook: 1\n/);
  t.match(out, /refused\. Reason: the note must name the file/);
  t.match(out, /issue +ENG-1 gets the label agent; the tracker sends a webhook to http:/);
  t.match(out, /issue +its agent asks for approval to call tracker\.set_state; Ada approves it\n/);
  t.match(out, /issue +ENG-1, Signalbox: Wrote notes\/eng-1-approvals\.md\.\n/);
  t.match(out, /issue +it is Done in the tracker; tool calls: read_issue done, comment done, set_state done\n/);
  t.match(out, /code host 127\.0\.0\.1:\d+; its app can access acme\/project, acme\/config\n/);
  t.match(out, /pushed signalbox\/[0-9a-z]{8}-eng-1-approvals; the service opened #1 "ENG-1: Approvals"/i);
  t.match(out, /pull +it changes notes\/INDEX\.md, notes\/eng-1-approvals\.md\n/);
  t.match(out, /pull +the code host reports the merge; marks of the task: issue, thread\n/);
  t.match(out, /event +pull-request\.merged: http:\S+\/acme\/project\/pull\/1\n/);
  t.match(out, /fact +#1: opened \S+Z, first review \S+Z, merged \S+Z, 1 review round\n/);
}

/** Checks what the demo printed about replays, a check, a search and its pick. */
function checkMeasuring(t: Test, { out }: Demo): void {
  t.match(out, /Live config: 0 of 1 succeeded, for 0\.\d+ USD\. Judge: The note is missing from the index\./);
  t.match(out, /Names the index: 1 of 1 succeeded, .* Judge: The note is listed in the index\./);
  t.match(out, /with the accepted change as the answer, .*\n.*With the answer Live config: 1 of 1 succeeded/);
  t.match(out, /gain of Names the index over the live config: 1\.00 \(better, but one task is too few to be sure\)/);
  t.match(out, /check +pull request #7 plans that prompt: passed, 0 of 1 tasks regressed/);
  t.match(out, /search 5 tasks are searched, 3 are held out/);
  t.match(out, /search seed: 40 % of searched tasks, 33 % of held-out ones/);
  t.match(out, /search write-the-note-and: 100 % of searched tasks \(better\), 100 % of held-out ones/);
  t.match(out, /search it ended \(iterations-used\) for 0\.\d+ USD; its best is write-the-note-and: It is .*\.\n/);
  t.match(out, /pick +Gain on the tasks it was selected on: 60\.0 points \(20\.0 points .* n = 5 tasks: better/);
  t.match(out, /the service opened "Config of station work of line notes: write-the-note-and"/);
  t.match(out, /pick +Gain on held-out tasks: 66\.7 points .* n = 3 tasks: fewer than 5 tasks/);
  t.match(out, /diff +-Write the note\.\n.*\n.*diff +\+Write the note, and list it in notes\/INDEX\.md\.\n/);
}

/** Returns the texts of the README's picture of the demo, as patterns: numbers and the branch's id differ by run. */
function readPictured(): readonly RegExp[] {
  const texts = [...readFileSync("docs/pictures/demo.svg", "utf8").matchAll(/<text [^>]*>(.*)<\/text>/g)];
  return texts.slice(1).map(([, text = ""]) => {
    const plain = text
      .replace(/<[^>]*>/g, "")
      .replaceAll("&gt;", ">")
      .replaceAll("&lt;", "<")
      .replaceAll("&amp;", "&");
    const isCut = plain.endsWith("…");
    const literal = plain.replace(/…$/, "").replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
    const pattern = literal.replace(/signalbox\/[0-9a-z]+/, "signalbox/[0-9a-z]+").replace(/\d+/g, "\\d+");
    return new RegExp(`^${pattern}${isCut ? "" : "$"}`, "m");
  });
}

/**
 * Follows the demo's link like a person. Checks that the link leads to the task's page, and returns the session's
 * cookie.
 */
async function followLink(t: Test, demo: Demo): Promise<string> {
  const { cookie, next } = await signInOnPage(demo.sights().link);
  t.match(next, /^http:\/\/127\.0\.0\.1:\d+\/tasks\/task_\w+$/);
  const page = await fetch(next ?? "");
  t.match([page.status, await page.text()], [200, /<title>Task on Signalbox<\/title>/]);
  const task = await fetch((next ?? "").replace("/tasks/", "/api/tasks/"), { headers: { cookie } });
  t.match(await task.json(), { title: "ENG-1: Approvals", state: "done" });
  return cookie;
}

t.test("it shows all parts, and then serves a link and three commands until it is ended", async (t) => {
  const demo = new Demo(t);
  await demo.printed("until Ctrl+C\n");
  checkWork(t, demo);
  checkMeasuring(t, demo);
  const pictured = readPictured();
  t.ok(pictured.length > 20);
  t.same(
    pictured.filter((pattern) => !pattern.test(demo.out)).map(String),
    [],
    "npm run record makes the picture again",
  );
  const { commands, link } = demo.sights();
  t.equal(commands.length, 3);
  const [list = "", diff = "", search = ""] = await Promise.all(commands.map((command) => demo.type(command)));
  t.match(list, /Approvals/);
  t.equal(list.match(/\bdone\b/g)?.length, 9);
  t.match(diff, /^\+# Approvals$/m);
  t.match(search, /write-the-note-and/);
  t.match(await demo.type((commands[0] ?? "").replace("task list", "hook log")), /notes-name-files/);
  const cookie = await followLink(t, demo);
  const { original, live, proposed } = await leftByReplays(createClient({ baseUrl: new URL(link).origin, cookie }));
  t.match(original, [{ repository: "acme/project", base: /^[0-9a-f]{40}$/, diff: /^\+# Fencing tokens$/m }]);
  t.same(live, original, "a run that is replayed with nothing changed leaves the same tree");
  t.match(proposed, [{ base: original[0]?.base, diff: /^\+- \[Fencing tokens\]/m }]);
  t.equal(await demo.end("SIGINT"), 0);
  t.same(readdirSync(demo.temporary), []);
  t.same(demo.leftRunning(), []);
});

t.test("without a search, the third command lists the hook firings", async (t) => {
  const sights = { baseUrl: "http://127.0.0.1:1", readToken: "t", taskId: "task_1", runId: "run_1", searchId: null };
  t.same(
    listCommands(sights).map((command) => command.replace(/^node \S*http\/cli\/signalbox\.mjs /, "")),
    ["task list", "run diff run_1", "hook log"].map((words) => `${words} --url http://127.0.0.1:1 --token t`),
  );
});
