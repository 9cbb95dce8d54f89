import t, { type Test } from "tap";
import {
  type ConnectionScene,
  connect,
  integrationAt,
  openScene,
  ownOnce,
  ownState,
} from "../../support/connection-scene.js";
import { expr } from "../../support/integration.js";
import { listItems } from "../../support/resources.js";
import { RunnerPeer } from "../../support/runner-peer.js";
import type { Client } from "../../support/service.js";

/**
 * Tests tools that act as the person who started the task. The person's account is linked at a real authorization
 * server.
 */

const MINUTE_MS = 60_000;
const account = "mate@host";

interface ActingScene extends ConnectionScene {
  /** Opens a person's task, whose agent calls the tool; resolves with the call's outcome and text. */
  callFor(person: Client): Promise<{ readonly outcome: string; readonly text: string }>;
  /**
   * Returns the calls of the last run. Each call has the user for whom the tool acted, and the failure code; the code
   * is null if the call succeeded.
   */
  recorded(): Promise<readonly unknown[]>;
}

/**
 * Opens an integration with a tool that asks the host for the acting account, and a line whose agents call this tool.
 */
async function open(t: Test): Promise<ActingScene> {
  const scene = await openScene(t);
  const { service, host, owner, workspaceId, teamId } = scene;
  const made = await owner.create(
    `/api/resources/teams/${teamId}/integrations`,
    integrationAt(host, {
      integration: "people",
      name: "People",
      actions: { me: { request: { method: "GET", url: `${host.url}/me` } } },
      tools: { me: { action: "me", output: expr("response.sub") } },
    }),
  );
  const path = `/api/resources/workspaces/${workspaceId}/runner-pools`;
  const pool = await owner.request("POST", path, { key: "main" }, { "idempotency-key": "pool" });
  const token = String(pool.headers["service-pool-token"]);
  const work = { key: "work", name: "Work", kind: "work", runners: { pool: "main" }, tools: ["people.me"] };
  await owner.create(`/api/resources/teams/${teamId}/lines`, {
    key: "asking",
    name: "Asking",
    repositories: [{ name: "acme/app" }],
    stations: [work],
  });
  let runId = "";
  const callFor = async (person: Client) => {
    const task = { title: "Who am I?", line: "asking" };
    const opened = await person.request("POST", `/api/teams/${teamId}/tasks`, task);
    t.equal(opened.status, 201);
    const peer = await RunnerPeer.join(service, token, { instance: `a runner of ${opened.body?.id}` });
    const job = await peer.job();
    runId = job.runId;
    peer.start(job);
    const call = { runId, fence: job.fence, id: "1", server: "people", tool: "me", inputs: "{}" };
    peer.say({ type: "run.tool-call", ...call });
    const { outcome, text } = await peer.message("run.tool-answered");
    peer.end(job);
    await peer.arrived();
    await peer.beat();
    peer.cut();
    return { outcome, text };
  };
  const recorded = async () => {
    return listItems(await owner.request("GET", `/api/runs/${runId}/tool-calls`)).map(({ actsAs, code }) => [
      actsAs,
      code,
    ]);
  };
  return { ...scene, at: `/api/integrations/${made.id}/connections`, callFor, recorded };
}

t.test("a call acts as whoever started the task, with what the host gave for them last, until it ends", async (t) => {
  const scene = await open(t);
  const { host, mate, owner, clock } = scene;
  t.match(await scene.callFor(mate), { outcome: "failed", text: /has no usable connection to People/ });
  t.match((await connect(scene, mate, { whose: "me", account })).body, { state: "connected", account });
  t.same(await scene.callFor(mate), { outcome: "done", text: account });
  t.equal(host.bearers.at(-1), host.issued[0]?.access_token);
  const { userId } = (await mate.request("GET", "/api/sessions/me")).body ?? {};
  t.same(await scene.recorded(), [[userId, null]]);

  t.match(await scene.callFor(owner), {
    outcome: "failed",
    text: /the person who started the task has no usable connection/,
  });
  t.match(await scene.recorded(), [[/^usr_/, "not-connected"]]);
  t.equal(host.bearers.length, 2, "it was asked for the link and for the first call: nobody acts as somebody else");

  clock.advance(55 * MINUTE_MS);
  await ownOnce(scene, mate, (seen) => host.issued.length === 2 && ownState(seen) === "connected");
  t.same(await scene.callFor(mate), { outcome: "done", text: account });
  t.equal(host.bearers.at(-1), host.issued[1]?.access_token, "access that was about to end was renewed");

  await host.endGrant(host.issued[1]?.refresh_token ?? "");
  clock.advance(55 * MINUTE_MS);
  await ownOnce(scene, mate, (seen) => ownState(seen) === "broken");
  t.match(await scene.callFor(mate), { outcome: "failed", text: /has no usable connection to People/ });
  t.same(await scene.recorded(), [[userId, "not-connected"]], "what the person ended at the host is not used");
});

t.test("nobody acts as a person who disconnected their account", async (t) => {
  const scene = await open(t);
  const { host, mate } = scene;
  await connect(scene, mate, { whose: "me", account });
  t.match(await scene.callFor(mate), { outcome: "done" });
  const asked = host.bearers.length;
  t.equal((await mate.request("DELETE", `${scene.at}/me`)).status, 204);
  t.match(await scene.callFor(mate), { outcome: "failed", text: /has no usable connection to People/ });
  t.equal(host.bearers.length, asked);
});
