import t from "tap";
import { hookReceiver } from "../support/hook-receiver.js";
import { readCommands } from "../support/page-commands.js";
import { listItems } from "../support/resources.js";
import { RunnerPeer } from "../support/runner-peer.js";
import { type Client, type Reply, startTestService, type TestService } from "../support/service.js";
import { until } from "../support/until.js";

/** The main page's commands are sent as printed, in order. */

/** The names of kinds in the page's placeholders, by id prefix. Only names that differ from the prefix are listed. */
const NAMES: Readonly<Record<string, string>> = { ws: "workspace", int: "integration", usr: "user" };

/** The values that a reader puts in place of `<…>`. */
class Filled {
  readonly known: Record<string, string> = {
    "<owner/name>": "acme/app",
    "<24 to 64 bytes in base64>": Buffer.alloc(32, 7).toString("base64"),
    "<state id>": "another",
  };

  fill(text: string): string {
    return text.replace(/<[\w/ ]+>/g, (name) => this.known[name] ?? name);
  }

  /** Remembers the ids in an answer. */
  remember({ headers, body }: Reply): void {
    for (const id of [body?.id, body?.runId, body?.userId].map(String)) {
      const [prefix = ""] = id.split("_");
      this.known[`<${NAMES[prefix] ?? prefix} id>`] = id;
    }
    if (headers["service-pool-token"] !== undefined) this.known["pool token"] = headers["service-pool-token"];
  }
}

/**
 * Lets an agent call the page's tool `set_state`, which needs approval, three times. Returns the id of the agent's run.
 */
async function callThrice(service: TestService, owner: Client, { known }: Filled): Promise<string> {
  const task = { title: "The tests fail again", line: "fix" };
  const opened = await owner.request("POST", `/api/teams/${known["<team id>"]}/tasks`, task);
  const peer = await RunnerPeer.join(service, known["pool token"] ?? "", { slots: 2 });
  const jobs = [await peer.job(), await peer.job()];
  const job = jobs.find(({ runId }) => runId === opened.body?.runId);
  if (job === undefined) throw new Error("the run was not assigned");
  known["<task id>"] = String(opened.body?.id);
  peer.start(job);
  for (const state of ["one", "two", "three"]) {
    const call = { id: state, server: "tracker", tool: "set_state", inputs: JSON.stringify({ state }) };
    peer.say({ type: "run.tool-call", runId: job.runId, fence: job.fence, ...call });
    await peer.message("run.tool-waiting", peer.frames.length);
  }
  return job.runId;
}

t.test("the main page leads from a sign-in to a queued run, an integration and a call's approval", async (t) => {
  const receiver = await hookReceiver(t, (response) => response.end());
  const service = await startTestService(t, { settings: { OUTBOUND_ALLOW: `${receiver.url},api.linear.app` } });
  const steps = await readCommands("README.md");
  t.equal(steps.length, 26);
  const filled = new Filled();
  const { known } = filled;
  known["<address of your receiver>"] = `${receiver.url}/in`;
  let client = service.anonymous;
  let waiting: readonly string[] = [];
  for (const [index, { method, headers: written, path, body }] of steps.entries()) {
    if (path.startsWith("/api/tasks/<task id>/assign")) known["<run id>"] = await callThrice(service, client, filled);
    const [id = "", ...others] = waiting;
    known["<approval id>"] = id;
    if (path.includes("<approval id>")) waiting = others;
    const at = filled.fill(path);
    const headers = { "idempotency-key": `step-${index}`, ...written };
    const reply = await client.request(method, at, body && filled.fill(body), headers);
    t.ok(reply.status >= 200 && reply.status < 300, `${method} ${at} answering ${reply.status} ${reply.text}`);
    if (path === "/api/sign-in") known["<token>"] = (await service.logged(/\/sign-in\/([\w-]{43})/))[1] ?? "";
    const session = /session=([\w-]+)/.exec(reply.headers["set-cookie"] ?? "")?.[1];
    if (session !== undefined) client = service.withSession(session);
    if (path === "/api/approvals") waiting = listItems(reply).map((approval) => String(approval.id));
    if (path === "/api/runs/<run id>") {
      t.match(reply.body, { state: "queued", waiting: { reason: "No runner of pool main is connected." } });
    }
    if (!path.includes("<approval id>")) filled.remember(reply);
  }
  t.match(known["pool token"], /^[\w-]{43}$/);
  const [told] = await receiver.arrived(1);
  t.match(told?.verified, { hook: "tell", on: "task.opened", task: { title: "The tests fail again" } });
  const calls = await until("the calls to be over", async () => {
    const found = listItems(await client.request("GET", `/api/runs/${known["<run id>"]}/tool-calls`));
    return found.every(({ endedAt }) => endedAt !== null) ? found : null;
  });
  t.same(
    calls.map(({ state, code, edited }) => [state, code, edited]),
    [
      // The person approved this call, but the service did not send it, because the task has no issue.
      ["failed", "unwritable", null],
      ["failed", "unwritable", { state: "another" }],
      ["dismissed", null, null],
    ],
  );
});
