import { resolve } from "node:path";
import t from "tap";
import { hookReceiver } from "../support/hook-receiver.js";
import { type BlockEnd, openReader } from "../support/reader.js";
import { listItems } from "../support/resources.js";
import { RunnerPeer } from "../support/runner-peer.js";
import { type Client, startTestService, type TestService } from "../support/service.js";
import { until } from "../support/until.js";

/** The commands with curl in `docs/quick-start.md` run as printed, in order. */

const EMAIL = "you@example.com";

/**
 * Lets an agent call the page's tool `set_state`, which needs approval, three times. Returns the id of the agent's run.
 */
async function callThrice(service: TestService, owner: Client, poolToken: string): Promise<string> {
  const [workspace] = listItems(await owner.request("GET", "/api/resources/workspaces"));
  const [team] = listItems(await owner.request("GET", `/api/resources/workspaces/${workspace?.id}/teams`));
  const task = { title: "The tests fail again", line: "fix" };
  const opened = await owner.request("POST", `/api/teams/${team?.id}/tasks`, task);
  const peer = await RunnerPeer.join(service, poolToken, { slots: 2 });
  const jobs = [await peer.job(), await peer.job()];
  const job = jobs.find(({ runId }) => runId === opened.body?.runId);
  if (job === undefined) throw new Error("the run was not assigned");
  peer.start(job);
  for (const state of ["one", "two", "three"]) {
    const call = { id: state, server: "tracker", tool: "set_state", inputs: JSON.stringify({ state }) };
    peer.say({ type: "run.tool-call", runId: job.runId, fence: job.fence, ...call });
    await peer.message("run.tool-waiting", peer.frames.length);
  }
  return job.runId;
}

t.test("the commands lead from a sign-in to a queued run, an integration and the approval of a call", async (t) => {
  const receiver = await hookReceiver(t, (response) => response.end());
  const service = await startTestService(t, { settings: { OUTBOUND_ALLOW: `${receiver.url},api.linear.app` } });
  const reader = openReader(t);
  const values: Record<string, string> = {
    "http://127.0.0.1:8787": service.baseUrl,
    "<address of your receiver>": `${receiver.url}/in`,
    "<24 to 64 bytes in base64>": Buffer.alloc(32, 7).toString("base64"),
    "<an API key>": "a key",
    "<signing secret>": "a secret",
    "@docs/": `@${resolve("docs")}/`,
  };
  const ends = new Map<string, BlockEnd>();
  let [requests, poolToken, agentRun] = [0, "", ""];
  await reader.follow("docs/quick-start.md", {
    section: "Set up a service step by step with HTTP",
    values,
    before: async ({ code }) => {
      requests += code.match(/(?:^|\()api /gm)?.length ?? 0;
      if (!code.includes("sessions/me")) return;
      agentRun = await callThrice(service, await service.signIn(EMAIL), poolToken);
    },
    after: async ({ code, headings }, end) => {
      ends.set(headings.at(-1) ?? "", end);
      poolToken ||= /^service-pool-token: ([\w-]{43})\r?$/im.exec(end.out)?.[1] ?? "";
      if (code.includes("/api/sign-in")) values["<token>"] = (await service.logged(/\/sign-in\/([\w-]{43})/))[1] ?? "";
    },
  });
  t.equal(requests, 29);
  t.match(poolToken, /^[\w-]{43}$/);
  t.match(JSON.parse(ends.get("Open a task")?.out ?? ""), {
    state: "queued",
    waiting: { reason: "No runner of pool main is connected." },
  });
  t.match(ends.get("Create a token and export the workspace")?.out, /^service-workspace-token: [\w-]{43}\r?$/im);
  t.match(ends.get("Create a token and export the workspace")?.out, /resource \\"service_line\\"/);
  t.match(ends.get("Connect an issue tracker")?.out, /"outcome":"opened"/);
  const [tried, again] = await receiver.arrived(2);
  t.match(tried?.verified, { hook: "tell", on: "task.opened" });
  t.match(again?.verified, { hook: "tell", on: "task.opened", task: { title: "The tests fail again" } });
  const owner = await service.signIn(EMAIL);
  const calls = await until("the calls to end", async () => {
    const found = listItems(await owner.request("GET", `/api/runs/${agentRun}/tool-calls`));
    return found.every(({ endedAt }) => endedAt !== null) ? found : null;
  });
  t.strictSame(
    calls.map(({ state, code, edited }) => [state, code, edited]),
    [
      // The person approved this call, but the service did not send it, because the task has no issue.
      ["failed", "unwritable", null],
      ["failed", "unwritable", { state: "another" }],
      ["dismissed", null, null],
    ],
  );
});
