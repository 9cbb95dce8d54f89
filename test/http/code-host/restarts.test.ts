import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { sealSignInGrant } from "../../../actors/code-host/confirmation.effects.js";
import type { ConfirmInstallation } from "../../../actors/code-host/connection.messages.js";
import { attemptTopic, codeHostConnectionRef } from "../../../actors/code-host/connection.messages.js";
import { createSealer } from "../../../actors/sealer.js";
import type { CodeHost } from "../../../http/demo/code-host/code-host.js";
import { loadOrCreateSecretsKey } from "../../../http/process/secrets-key.js";
import type { Runtime } from "../../../runtime/runtime.js";
import { startCodeHost } from "../../support/code-host.js";
import { adaThere, connect, install } from "../../support/code-host-scene.js";
import { ManualClock } from "../../support/manual-clock.js";
import { personAt } from "../../support/people.js";
import { listItems, workspaceWithTeam } from "../../support/resources.js";
import { startTestService } from "../../support/service.js";
import { until } from "../../support/until.js";

const REDIRECT = "http://127.0.0.1/code-host/callback";
const ATTEMPT = "attempt_1";

interface Office {
  readonly codeHost: CodeHost;
  readonly workspaceId: string;
  /** Starts the service again on the same store. */
  restart(): ReturnType<typeof startTestService>;
}

/** Starts a service, and stops it while a request to the code host is in progress. `pattern` matches this request. */
async function stoppedWhileAsking(t: Test, pattern: RegExp): Promise<Office> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-code-host-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const clock = new ManualClock();
  const codeHost = await startCodeHost(t, () => clock.now());
  const start = () => startTestService(t, { clock, folder, settings: codeHost.settings });
  const service = await start();
  const ada = await personAt(service, "ada@example.com");
  const { workspaceId } = await workspaceWithTeam(ada);
  install(codeHost, 7);
  const verifier = randomBytes(32).toString("base64url");
  const url = new URL(`${codeHost.settings.CODE_HOST_URL}/../../login/oauth/authorize`);
  url.search = new URLSearchParams({
    client_id: codeHost.settings.CODE_HOST_CLIENT_ID ?? "",
    redirect_uri: REDIRECT,
    state: "unused",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  }).toString();
  const code = (await codeHost.signIn(url.href, adaThere)).get("code") ?? "";
  const noBytes = () => {
    throw new Error("the key is there");
  };
  const sealer = createSealer(loadOrCreateSecretsKey(folder, noBytes), randomBytes);
  codeHost.faults.set(pattern, "hang");
  const message: ConfirmInstallation = {
    type: "installation.confirm",
    attemptId: ATTEMPT,
    by: ada.userId,
    sealedSignIn: sealSignInGrant(sealer, { installationId: 7, code, verifier, redirectUri: REDIRECT }),
  };
  await service.runtime.ask(codeHostConnectionRef(workspaceId, { host: codeHost.name, installationId: 7 }), message);
  await codeHost.asking(pattern);
  await service.stop();
  codeHost.faults.clear();
  return { codeHost, workspaceId, restart: start };
}

/** Resolves with an attempt's outcome. */
function readOutcome(runtime: Runtime, workspaceId: string): Promise<unknown> {
  const { name: topic } = attemptTopic(ATTEMPT);
  return new Promise((resolve) => {
    runtime.feed.listen(workspaceId, topic, ({ data }) => resolve(data));
    const told = runtime.feed.since(workspaceId, topic, 0);
    if (told !== "too-old" && told[0] !== undefined) resolve(told[0].data);
  });
}

t.test("a confirmation under way when the service ends is made by the next", async (t) => {
  const { workspaceId, restart } = await stoppedWhileAsking(t, /access_token$/);
  const service = await restart();
  t.match(await readOutcome(service.runtime, workspaceId), { connection: { installationId: 7, state: "connected" } });
});

t.test("one whose code was used up by then connects nothing, and the person signs in again", async (t) => {
  const { codeHost, workspaceId, restart } = await stoppedWhileAsking(t, /memberships/);
  const service = await restart();
  t.match(await readOutcome(service.runtime, workspaceId), {
    refused: "forbidden",
    detail: /Please sign in there again/,
  });
  const ada = await personAt(service, "ada@example.com");
  t.same((await ada.request("GET", "/api/workspaces/acme/code-host")).body?.connections, []);
  t.equal((await connect(codeHost, ada, { installationId: 7 })).status, 200);
});

t.test("connections outlive the service, and without the code host are shown and can be disconnected", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-code-host-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const codeHost = await startCodeHost(t);
  const before = await startTestService(t, { folder, settings: codeHost.settings });
  const ada = await personAt(before, "ada@example.com");
  await workspaceWithTeam(ada);
  install(codeHost, 7);
  t.equal((await connect(codeHost, ada, { installationId: 7 })).status, 200);
  await before.stop();
  const service = await startTestService(t, { folder });
  const again = await personAt(service, "ada@example.com");
  const shown = await again.request("GET", "/api/workspaces/acme/code-host");
  t.match(shown.body, { host: null, connections: [{ installationId: 7, host: codeHost.name, state: "connected" }] });
  const path = "/api/workspaces/acme/code-host/connections/7";
  t.match(await again.request("GET", `${path}/repositories`), {
    status: 409,
    body: { detail: /No code host is configured/ },
  });
  t.equal((await again.request("DELETE", path)).status, 204);
});

t.test(
  "of a code host that was replaced, connections are shown, and it is not asked in the other's place",
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "signalbox-code-host-"));
    t.teardown(() => rm(folder, { recursive: true, force: true }));
    const [first, second] = [await startCodeHost(t), await startCodeHost(t)];
    const before = await startTestService(t, { folder, settings: first.settings });
    const ada = await personAt(before, "ada@example.com");
    await workspaceWithTeam(ada);
    install(first, 7);
    t.equal((await connect(first, ada, { installationId: 7 })).status, 200);
    await before.stop();
    const service = await startTestService(t, { folder, settings: second.settings });
    const again = await personAt(service, "ada@example.com");
    const path = "/api/workspaces/acme/code-host/connections/7";
    const refused = await again.request("GET", `${path}/repositories`);
    const detail = `${first.name} is not the code host of this service. The configured code host is ${second.name}.`;
    t.match(refused, { status: 409, body: { detail } });
    t.same(second.asked, []);
  },
);

t.test("what was delivered while the service was down is asked for again when it starts, once", async (t) => {
  const clock = new ManualClock();
  const codeHost = await startCodeHost(t, () => clock.now());
  const folder = await mkdtemp(join(tmpdir(), "signalbox-code-host-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const start = () => startTestService(t, { clock, folder, settings: codeHost.settings });
  const service = await start();
  const ada = await personAt(service, "ada@example.com");
  const { teamId } = await workspaceWithTeam(ada);
  const stations = [{ key: "work", name: "Work", kind: "work" }];
  const line = { key: "dev", name: "Dev", repositories: [{ name: "acme-inc/app" }], stations };
  await ada.create(`/api/resources/teams/${teamId}/lines`, line);
  install(codeHost, 7);
  codeHost.repositories.set(7, ["acme-inc/app"]);
  t.equal((await connect(codeHost, ada, { installationId: 7 })).status, 200);
  await service.stop();

  const app = await codeHost.work.addRepository("acme-inc/app", { "a.txt": "one\n" });
  await app.commit({ branch: "fix", files: { "a.txt": "two\n" } });
  await codeHost.work.open(app, { title: "Fix", head: "fix", base: "main", by: adaThere });
  for (const event of codeHost.work.events) t.equal(await codeHost.hooks.send(event), 0, "nobody is there");
  const lost = codeHost.hooks.attempts.length;
  let open = () => undefined as unknown;
  const isOpen = new Promise<unknown>((resolve) => {
    open = () => resolve(null);
  });
  codeHost.onceFaults.push({ on: /GET .*\/app\/hook\/deliveries/, fault: { after: isOpen } });
  const next = await start();
  codeHost.hooks.url = `${next.baseUrl}/api/code-host/deliveries`;
  open();
  const again = await personAt(next, "ada@example.com");
  const listed = async () => listItems(await again.request("GET", `/api/teams/${teamId}/pull-requests`));
  await until("the pull request is known", async () => (await listed()).length === 1);
  t.match(await listed(), [{ number: 1, title: "Fix", role: "people", state: "open", branch: "fix" }]);
  const redelivered = codeHost.hooks.attempts.slice(lost);
  t.match(
    redelivered.map(({ guid, status_code }) => [guid, status_code]),
    codeHost.hooks.attempts.slice(0, lost).map(({ guid }) => [guid, 204]),
  );

  const [pull] = codeHost.work.pulls;
  if (pull === undefined) throw new Error("nothing was opened");
  clock.advance(60_000);
  await codeHost.work.close(pull, adaThere);
  await app.commit({ branch: "other", files: { "b.txt": "new\n" } });
  await codeHost.work.open(app, { title: "Other", head: "other", base: "main", by: adaThere });
  clock.advance(60 * 60 * 1_000);
  const states = async () => (await listed()).map(({ number, state }) => `${number} ${state}`).sort();
  await until("what was never delivered is known", async () => (await states()).join() === "1 closed,2 open");
});
