import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import { pullRequestFacts } from "../../actors/run-facts/pull-request-fact.table.js";
import { reviewFacts } from "../../actors/run-facts/review-fact.table.js";
import { startCodeHost } from "../support/code-host.js";
import { acmeOrg, bobThere, connect, install } from "../support/code-host-scene.js";
import { hookReceiver } from "../support/hook-receiver.js";
import { hook, ok } from "../support/hook-scene.js";
import { startRealRunner } from "../support/real-runner.js";
import { startTestService } from "../support/service.js";
import { createShipped, shippedIntegration } from "../support/shipped-integrations.js";
import { startTracker } from "../support/tracker.js";
import { until } from "../support/until.js";

/**
 * Tests the path from an issue to the data of the figures, with real peers: a tracker, a code host with repositories
 * over git, the service, and a runner whose agent calls tools over MCP.
 */

const toolClient = fileURLToPath(new URL("../../http/demo/tool-client.js", import.meta.url));

/**
 * An agent that reads the issue, comments on the issue, moves the issue after a person's approval, and changes a file.
 */
const AGENT = `
import { writeFileSync } from "node:fs";
import { ToolClient } from ${JSON.stringify(toolClient)};
const tracker = await ToolClient.open("tracker");
const call = async (tool, inputs) => {
  const { text, isError } = await tracker.call(tool, inputs);
  if (isError) throw new Error(tool + ": " + text);
  return JSON.parse(text);
};
const issue = await call("read_issue", {});
await call("comment", { body: "I mend " + issue.identifier + "." });
const { id } = issue.team.states.nodes.find(({ type }) => type === "started");
await call("set_state", { state: id });
writeFileSync("login.txt", issue.title);
tracker.close();
`;

const lint = { id: 9_100, login: "lint[bot]", type: "Bot" } as const;

type Json = Readonly<Record<string, unknown>>;

t.test("an issue becomes a task, its change a pull request, and its merge a fact", async (t) => {
  const tracker = await startTracker(t);
  const codeHost = await startCodeHost(t);
  const repository = await codeHost.work.addRepository("acme-inc/app");
  install(codeHost, 7);
  codeHost.repositories.set(7, ["acme-inc/app"]);
  const receiver = await hookReceiver(t, ok);
  const settings = { ...codeHost.settings, OUTBOUND_ALLOW: `${tracker.api.url},${receiver.url}` };
  const service = await startTestService(t, { settings });
  const ada = await service.signIn("ada@example.com");
  const { id: workspaceId } = await ada.create("/api/resources/workspaces", { slug: "acme", name: "Acme" });
  const within = `/api/resources/workspaces/${workspaceId}`;
  const { id: teamId } = await ada.create(`${within}/teams`, { key: "core", name: "Core" });
  for (const on of ["pull-request.opening", "pull-request.merged"]) {
    const fields = hook(receiver.url, { key: on.replace(".", "-"), on });
    await ada.create(`/api/resources/teams/${teamId}/hooks`, fields);
  }
  const connected = await connect(codeHost, ada, { installationId: 7 });
  t.equal(connected.status, 200, `the installation of ${acmeOrg.login} is connected`);
  codeHost.hooks.url = `${service.baseUrl}/api/code-host/deliveries`;

  const hosts = { "api.linear.app": tracker.api.host };
  const shipped = shippedIntegration("tracker/integration.json", hosts);
  const secrets = { "tracker-key": tracker.key, "tracker-webhook": tracker.secret };
  const integration = await createShipped(ada, { workspaceId, teamId }, shipped, secrets);
  const pool = await ada.request("POST", `${within}/runner-pools`, { key: "main" }, { "idempotency-key": "pool" });
  await ada.create(`/api/resources/teams/${teamId}/lines`, {
    key: "fix",
    name: "Fix",
    repositories: [{ name: "acme-inc/app" }],
    stations: [
      {
        key: "work",
        name: "Work",
        kind: "work",
        runners: { pool: "main" },
        tools: ["tracker.read_issue", "tracker.comment", "tracker.set_state"],
      },
    ],
  });
  const folder = await mkdtemp(join(tmpdir(), "signalbox-path-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "agent.mjs"), AGENT);
  await startRealRunner(t, {
    url: service.baseUrl,
    token: String(pool.headers["service-pool-token"]),
    gitUrl: `file://${await codeHost.work.folder}/{name}.git`,
    command: [process.execPath, join(folder, "agent.mjs")],
  });

  tracker.deliverTo = String(integration.deliveriesUrl);
  const person = { name: "Ada", email: "ada@example.com" };
  const issue = await tracker.open({ title: "Login fails", assignee: person }, ["agent"]);
  const list = async (path: string) => ((await ada.request("GET", path)).body?.items ?? []) as readonly Json[];
  const task = async () => {
    const [found] = await list(`/api/teams/${teamId}/tasks`);
    return found === undefined ? null : ((await ada.request("GET", `/api/tasks/${found.id}`)).body ?? {});
  };
  const asked = await until("the agent to ask", async () => {
    const approvals = ((await task())?.approvals ?? []) as readonly { id: string; runId: string; tool: string }[];
    return approvals[0];
  });
  t.equal(issue.state.name, "Todo", "nothing is moved before a person approves it");
  await ada.request("POST", `/api/runs/${asked.runId}/approvals/${asked.id}/approve`, {});

  const pull = await until("a pull request", () => codeHost.work.pulls[0]);
  t.equal(issue.state.name, "In Progress");
  t.same(await repository.changed("main", pull.head), [{ path: "login.txt", status: "A" }]);
  t.match(pull.head, /^signalbox\/[0-9a-z]{8}-eng-1-login-fails$/i);
  await until("the task to have it", async () => (await task())?.pullRequest);
  t.match(await task(), { state: "done", pullRequest: { state: "open" } });

  await codeHost.work.review(pull, { state: "APPROVED", by: bobThere });
  const asks = await codeHost.work.commentInReview(pull, { body: "Why?", by: lint });
  await codeHost.work.resolve(pull, asks, bobThere);
  await codeHost.work.merge(pull, bobThere);
  await until("the merge to be told", async () => {
    for (const event of codeHost.work.events.splice(0)) await codeHost.hooks.send(event);
    return JSON.stringify((await task())?.pullRequest).includes("merged");
  });
  const [listed] = await list(`/api/teams/${teamId}/pull-requests`);
  t.match(listed, { state: "merged", role: "own", branch: pull.head, mergeCommit: pull.merge_commit_sha });
  t.match((await ada.request("GET", `/api/pull-requests/${listed?.id}`)).body, { changed: ["login.txt"] });
  const facts = pullRequestFacts.list(service.runtime.reading, workspaceId, [teamId]);
  t.match(facts, [{ taskId: (await task())?.id, state: "merged", author: "service", repository: "acme-inc/app" }]);
  t.match(reviewFacts.list(service.runtime.reading, workspaceId, [teamId]), [
    { kind: "comment", login: lint.login, by: "bots", thread: { isResolved: true } },
    { kind: "review", login: bobThere.login, by: "people", isAuthor: false, verdict: "approved" },
  ]);
  const events = async () => (await list(`/api/teams/${teamId}/events`)).map(({ on }) => on);
  await until("the event of the merge", async () => (await events()).includes("pull-request.merged"));
  const [opening, merged] = await receiver.arrived(2);
  const change = { repository: "acme-inc/app", changed: ["login.txt"] };
  const openedBy = { kind: "integration", key: "tracker", integrationId: integration.id };
  t.match(opening?.verified, {
    event: { ...change, branch: pull.head, title: pull.title },
    run: { id: asked.runId },
    task: { pullRequest: null, openedBy },
  });
  const url = /^http:.*\/acme-inc\/app\/pull\/1$/;
  t.match(merged?.verified, {
    event: { ...change, url, mergeCommit: pull.merge_commit_sha },
    run: null,
    task: { pullRequest: url },
  });
  const bearer = service.withToken(String(merged?.headers["service-callback-token"]));
  const read = await bearer.request("GET", "/api/hook-callbacks/task");
  t.match(read.body, { pullRequest: url }, "a callback reads the same");
  t.same((await list(`/api/runs/${asked.runId}/tool-calls`)).map(({ tool, state }) => [tool, state]).sort(), [
    ["comment", "done"],
    ["read_issue", "done"],
    ["set_state", "done"],
  ]);
  const texts = () => issue.comments.map(({ body }) => body);
  await until("the issue to be told of the end", () => texts().includes("The work on this is done."));
  t.match(texts(), [
    /has begun/,
    "I mend ENG-1.",
    /tracker\.set_state waits for approval/,
    "The work on this is done.",
  ]);
  t.match(await task(), { marks: { issue: issue.id, thread: issue.comments[0]?.id } });
  t.match((await ada.request("GET", `/api/runs/${asked.runId}`)).body, { outcome: "completed" });
});
