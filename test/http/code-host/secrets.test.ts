import { randomBytes } from "node:crypto";
import t from "tap";
import { Canaries } from "../../support/canaries.js";
import { startCodeHost } from "../../support/code-host.js";
import { adaThere, bobThere, install } from "../../support/code-host-scene.js";
import { ManualClock } from "../../support/manual-clock.js";
import { personAt } from "../../support/people.js";
import { workspaceWithTeam } from "../../support/resources.js";
import { startTestService } from "../../support/service.js";
import { StreamReader } from "../../support/stream-reader.js";

const WHERE = "/api/workspaces/acme/code-host";

t.test("no secret of the code host is in any output, or in the clear in the store", async (t) => {
  const clock = new ManualClock();
  const codeHost = await startCodeHost(t, () => clock.now());
  const service = await startTestService(t, { clock, settings: codeHost.settings });
  const ada = await personAt(service, "ada@example.com");
  const { workspaceId } = await workspaceWithTeam(ada);
  install(codeHost, 7);
  codeHost.repositories.set(7, ["acme-inc/app"]);
  const canaries = new Canaries();
  const send = canaries.watch(ada);
  const reader = await StreamReader.open(ada);
  reader.subscribe(`workspace/${workspaceId}`);

  const connect = async (person = adaThere, spoil: (query: URLSearchParams) => void = () => undefined) => {
    const path = `${WHERE}/connections`;
    const shown = (reply: { readonly body: Readonly<Record<string, unknown>> | null }) => {
      const state = new URL(String(reply.body?.url)).searchParams.get("state") ?? "";
      return [canaries.add("state", state)];
    };
    const begun = await send({ method: "POST", path, body: { installationId: 7 }, shown });
    const query = await codeHost.signIn(String(begun.body?.url), person);
    spoil(query);
    return send({ method: "POST", path: "/api/code-host/confirmations", body: Object.fromEntries(query) });
  };
  t.equal((await connect()).status, 200);
  t.equal((await connect(bobThere)).status, 403);
  const spoilt = await connect(adaThere, (query) =>
    query.set("code", canaries.add("code", `canary-${randomBytes(16).toString("hex")}`)),
  );
  t.equal(spoilt.status, 403);
  // The code host repeats the secrets that it received, in regular answers and in error answers.
  for (const where of [/access_token$/, /installations/, /memberships/, /repositories/]) {
    for (const status of [200, 400, 401, 403, 404, 500]) {
      const echoed = [...codeHost.secrets, ...Object.values(codeHost.settings)].join(" ");
      codeHost.faults.set(where, { status, body: echoed });
      await connect();
      await send({ method: "GET", path: `${WHERE}/connections/7/repositories` });
    }
    codeHost.faults.clear();
    clock.advance(10 * 60_000);
  }
  t.equal((await send({ method: "GET", path: `${WHERE}/connections/7/repositories` })).status, 200);
  const body = '{"action":"suspend","installation":{"id":7,"updated_at":1790000000}}';
  const headers = codeHost.deliveryHeaders("installation", body, "one");
  const deliver = canaries.watch(service.anonymous);
  await deliver({ method: "POST", path: "/api/code-host/deliveries", body: `${body} `, headers });
  await deliver({ method: "POST", path: "/api/code-host/deliveries", body, headers });
  const told = await reader.until(({ data }) => data.what === "suspended");
  canaries.saw("the stream", JSON.stringify([reader.messages, told]));
  reader.end();
  const reads = [
    ...[WHERE, "/api/workspaces/acme/configuration-changes", "/api/workspaces/acme/dead-letters", "/metrics"],
    ...[`/api/resources/workspaces/${workspaceId}`, `/api/resources/workspaces/${workspaceId}/export`],
    ...[`/api/resources/workspaces/${workspaceId}/hcl`, "/api/openapi.json", "/code-host/callback"],
  ];
  for (const path of reads) t.equal((await send({ method: "GET", path })).status, 200, path);
  await service.stop();

  for (const secret of codeHost.secrets) canaries.add("given out or told by the code host", secret);
  const {
    CODE_HOST_APP_KEY: key = "",
    CODE_HOST_CLIENT_SECRET = "",
    CODE_HOST_WEBHOOK_SECRET = "",
  } = codeHost.settings;
  for (const line of key.split("\n").filter((part) => part.length === 64)) canaries.add("line of the app's key", line);
  canaries.add("client secret", CODE_HOST_CLIENT_SECRET);
  canaries.add("webhook secret", CODE_HOST_WEBHOOK_SECRET);
  canaries.saw("the log", service.logLines.join("\n"));
  await canaries.sawFiles(service.folder, "ada@example.com");
  t.ok(canaries.count > 100, `${canaries.count} canaries`);
  t.same(canaries.sightings(), []);
});
