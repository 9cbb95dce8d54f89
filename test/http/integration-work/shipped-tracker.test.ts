import t from "tap";
import { openShipped } from "../../support/shipped-scene.js";
import { startTracker } from "../../support/tracker.js";
import { until } from "../../support/until.js";

/** Tests the shipped tracker integration with the whole service, from the label on an issue to the last comment. */

const BEGUN = "An agent has begun to work on this.";

t.test(
  "an issue is worked: opened by its label, read, commented on, moved with leave, and told of the end",
  async (t) => {
    const tracker = await startTracker(t);
    const scene = await openShipped(t, {
      file: "tracker/integration.json",
      hosts: { "api.linear.app": tracker.api.host },
      secrets: { "tracker-key": tracker.key, "tracker-webhook": tracker.secret },
      tools: ["tracker.read_issue", "tracker.comment", "tracker.set_state"],
    });
    tracker.deliverTo = scene.deliveriesUrl;
    const runner = await scene.runner();
    const ada = { name: "Ada", email: "Ada@Example.com" };
    const issue = await tracker.open({ title: "Login fails", description: "With a long name.", assignee: ada });
    await tracker.label(issue, "agent");
    t.match(tracker.api.deliveries, [{ status: 200 }, { status: 200 }]);
    const task = await scene.opened(/^ENG-1: Login fails$/);
    t.match(task, {
      description: `With a long name.\n\n${issue.url}`,
      openedBy: { kind: "integration", key: "tracker", integration: "tracker" },
      marks: { issue: issue.id },
    });
    t.equal(typeof task.assignee, "string", "whose mail address the issue's assignee has");
    await until("the issue to be told that work began", () => issue.comments.length === 1);
    t.match(issue.comments, [{ by: "Signalbox", body: BEGUN, parentId: null }]);

    const job = await runner.job();
    runner.start(job);
    const read = await scene.call(runner, job, "read_issue");
    t.match(read, { outcome: "done", text: /"identifier":"ENG-1"/ });
    t.match(read.text, /"name":"In Progress"/, "with the states that it may be moved to");
    t.match(await scene.call(runner, job, "comment", { body: "I see why." }), { outcome: "done" });
    t.match(issue.comments.at(-1), { by: "Signalbox", body: "I see why." });
    t.match(await scene.call(runner, job, "comment", {}), { outcome: "failed", text: /body/ }, "an input is missing");

    const started = "8b11a5f0-6a70-4fc4-9d5b-5bd4d24f9d02";
    const from = runner.frames.length;
    const moving = scene.call(runner, job, "set_state", { state: started });
    t.match(await runner.message("run.tool-waiting", from), { for: /approv/ });
    const approvals = async () => (await scene.task(task.id)).approvals as readonly { id: string; runId: string }[];
    await scene.when(`task/${task.id}`, async () => (await approvals()).length === 1);
    t.equal(issue.state.name, "Todo", "nothing is sent before the approval");
    for (const { id, runId } of await approvals())
      await scene.ada.request("POST", `/api/runs/${runId}/approvals/${id}/approve`, {});
    t.match(await moving, { outcome: "done" });
    t.equal(issue.state.name, "In Progress");
    t.match((await scene.ada.request("GET", `/api/runs/${job.runId}/tool-calls`)).body?.items, { length: 4 });

    await tracker.comment(issue, "It is urgent.");
    const notes = async () => (await scene.task(task.id)).notes as readonly { from: string; text: string }[];
    await scene.when(`task/${task.id}`, async () => (await notes()).some(({ text }) => text.includes("It is urgent.")));
    t.same(
      (await notes()).filter(({ from }) => from === "integration tracker").map(({ text }) => text),
      ["Ada commented on the issue:\n\nIt is urgent."],
      "people's comments are said, its own are not",
    );
    runner.end(job);
    await until("the issue to be told of the end", () => issue.comments.some(({ body }) => /is done/.test(body)));
    const [first] = issue.comments;
    t.match(issue.comments.at(-1), { by: "Signalbox", parentId: first?.id }, "in the thread of the first comment");
  },
);
