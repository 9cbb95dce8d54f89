import t from "tap";
import { startIssues } from "../../support/issues.js";
import { openShipped } from "../../support/shipped-scene.js";
import { until } from "../../support/until.js";

/** Tests the shipped integration for the issues of a code host with the whole service, with deliveries and polls. */

const tools = ["issues.read_issue", "issues.read_comments", "issues.comment", "issues.close_issue"];

t.test("an issue with the label is worked once, however often it is told of", async (t) => {
  const issues = await startIssues(t);
  const scene = await openShipped(t, {
    file: "issues/integration.json",
    hosts: { "api.github.com": issues.api.host },
    tools,
    secrets: { "issues-token": issues.token, "issues-webhook": issues.secret },
  });
  issues.deliverTo(scene.deliveriesUrl);
  const runner = await scene.runner();
  const { issue, sent } = await issues.open("Login fails", ["agent"]);
  t.match(sent, [{ status: 202 }, { status: 202 }]);
  const task = await scene.opened(/^Login fails$/);
  t.match(task, { marks: { ticket: issues.toUrl(issue) } });
  const job = await runner.job();
  runner.start(job);
  t.match(await scene.call(runner, job, "read_issue"), { outcome: "done", text: /"labels":\["agent"\]/ });
  t.match(await scene.call(runner, job, "comment", { body: "I see why." }), { outcome: "done" });
  t.match(await scene.call(runner, job, "read_comments"), { outcome: "done", text: /I see why/ });
  await issues.comment(issue, "It is urgent.");
  await scene.when(`task/${task.id}`, async () => JSON.stringify(await scene.task(task.id)).includes("It is urgent."));
  t.notMatch(JSON.stringify((await scene.task(task.id)).notes), /I see why/, "its own comment is not said");
  runner.end(job);
  await until("the issue to be told of the end", () => issue.comments.some(({ body }) => /is done/.test(body)));
  t.match(await scene.tasks(), { length: 1 });
});

t.test("polled, an issue is taken by its label, which comes off", async (t) => {
  const issues = await startIssues(t);
  const scene = await openShipped(t, {
    file: "issues/poll.json",
    hosts: { "api.github.com": issues.api.host },
    tools,
    secrets: { "issues-token": issues.token },
  });
  const { issue } = await issues.open("Login fails", ["agent"]);
  await issues.open("Not for agents");
  const now = await scene.ada.request("POST", `/api/integrations/${scene.integrationId}/poll/now`, {});
  t.equal(now.status, 202);
  t.match(await scene.opened(/^Login fails$/), { marks: { ticket: issues.toUrl(issue) } });
  await until("the label to come off", () => !issue.labels.includes("agent"));
  await scene.ada.request("POST", `/api/integrations/${scene.integrationId}/poll/now`, {});
  await issues.api.arrived(/^GET .*\/issues$/, 2);
  t.match(await scene.tasks(), { length: 1 });
});
