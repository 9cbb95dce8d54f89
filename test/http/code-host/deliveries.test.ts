import t, { type Test } from "tap";
import type { CodeHost } from "../../../http/demo/code-host/code-host.js";
import type { HostedAccount } from "../../../http/demo/code-host/hosted-account.js";
import { startCodeHost } from "../../support/code-host.js";
import { acmeOrg, bobThere, connect, install } from "../../support/code-host-scene.js";
import { ManualClock } from "../../support/manual-clock.js";
import { personAt } from "../../support/people.js";
import { createUnder, replace, toProblem, toSlug, workspaceWithTeam } from "../../support/resources.js";
import { type Client, type Reply, startTestService, type TestService } from "../../support/service.js";
import { StreamReader } from "../../support/stream-reader.js";

const DELIVERIES = "/api/code-host/deliveries";

interface Office {
  readonly codeHost: CodeHost;
  readonly service: TestService;
  readonly ada: Client;
  readonly workspaceId: string;
  readonly teamId: string;
  readonly clock: ManualClock;
  /** Sends a delivery like the code host. */
  deliver(event: string, payload: unknown, delivery?: string): Promise<Reply>;
  state(): Promise<unknown>;
}

/** Opens a workspace that is connected to installation 7 of the organisation. */
async function openOffice(t: Test): Promise<Office> {
  const clock = new ManualClock();
  const codeHost = await startCodeHost(t, () => clock.now());
  const service = await startTestService(t, { clock, settings: codeHost.settings });
  const ada = await personAt(service, "ada@example.com");
  const place = await workspaceWithTeam(ada);
  install(codeHost, 7);
  const connected = await connect(codeHost, ada, { installationId: 7 });
  if (connected.status !== 200) throw new Error(connected.text);
  let sent = 0;
  return {
    codeHost,
    service,
    ada,
    workspaceId: place.workspaceId,
    teamId: place.teamId,
    clock,
    deliver: (event, payload, delivery) => {
      sent += 1;
      const body = JSON.stringify(payload);
      const id = delivery ?? `72d3162e-cc78-11e3-81ab-4c9367dc09${sent}`;
      return service.anonymous.request("POST", DELIVERIES, body, codeHost.deliveryHeaders(event, body, id));
    },
    state: async () => {
      const { body } = await ada.request("GET", "/api/workspaces/acme/code-host");
      const [connection] = (body?.connections ?? []) as readonly { readonly state: string }[];
      return connection?.state;
    },
  };
}

/** Returns an installation event in GitHub's format. */
function installationEvent(
  action: string,
  updatedAt: string | number,
  account: HostedAccount = acmeOrg,
  id = 7,
): unknown {
  const isSuspended = action === "suspend";
  return {
    action,
    installation: {
      id,
      account,
      repository_selection: "all",
      app_id: 29_310,
      app_slug: "signalbox",
      target_id: account.id,
      target_type: account.type,
      permissions: { metadata: "read" },
      events: ["pull_request"],
      created_at: "2021-04-28T22:32:21.000-04:00",
      updated_at: updatedAt,
      single_file_name: null,
      suspended_by: isSuspended ? account : null,
      suspended_at: isSuspended ? "2026-09-23T12:01:00Z" : null,
    },
    repositories: [{ id: 1_296_269, name: "app", full_name: `${account.login}/app`, private: true }],
    sender: account,
  };
}

t.test("an installation that is suspended, taken up again and deleted there changes its connection", async (t) => {
  const { ada, workspaceId, deliver, state } = await openOffice(t);
  const reader = await StreamReader.open(ada);
  reader.subscribe(`workspace/${workspaceId}`);
  await reader.until(({ kind }) => kind === "snapshot");
  for (const [action, updatedAt, wanted] of [
    ["suspend", "2026-09-23T08:01:00.000-04:00", "suspended"],
    ["unsuspend", "2026-09-23T12:02:00Z", "connected"],
    ["deleted", Date.parse("2026-09-23T12:03:00Z") / 1_000, "deleted"],
  ] as const) {
    const taken = await deliver("installation", installationEvent(action, updatedAt));
    t.equal(taken.status, 204, taken.text);
    t.equal(await state(), wanted);
    const told = await reader.until(({ data }) => (data as { what?: string }).what === wanted);
    t.match(told.data, { type: "code-host", connection: { installationId: 7, state: wanted } });
  }
  reader.end();
});

t.test(
  "an installation that was deleted there is free, and its connection stays until it is disconnected",
  async (t) => {
    const { codeHost, service, ada, deliver, state } = await openOffice(t);
    await deliver("installation", installationEvent("deleted", 1_790_000_000));
    t.equal(await state(), "deleted");
    await deliver("installation", installationEvent("unsuspend", 1_790_000_001));
    t.equal(await state(), "deleted", "what is deleted does not come back by itself");
    const eve = await personAt(service, "eve@example.com");
    await workspaceWithTeam(eve, "other");
    t.equal((await connect(codeHost, eve, { installationId: 7, slug: "other" })).status, 200);
    t.equal((await ada.request("DELETE", "/api/workspaces/acme/code-host/connections/7")).status, 204);
    const other = await eve.request("GET", "/api/workspaces/other/code-host");
    t.match(other.body?.connections, [{ installationId: 7, state: "connected" }], "which does not touch the other's");
  },
);

t.test("a repeated delivery, or one that is older than the last, changes nothing", async (t) => {
  const { deliver, state } = await openOffice(t);
  const suspended = installationEvent("suspend", "2026-09-23T12:01:00Z");
  t.equal((await deliver("installation", suspended, "one")).status, 204);
  t.equal((await deliver("installation", installationEvent("unsuspend", "2026-09-23T12:05:00Z"))).status, 204);
  t.equal((await deliver("installation", suspended, "one")).status, 204, "it is taken all the same");
  t.equal(await state(), "connected");
  const late = installationEvent("suspend", "2026-09-23T12:04:00Z");
  t.equal((await deliver("installation", late)).status, 204);
  t.equal(await state(), "connected");
  t.equal((await deliver("installation", installationEvent("suspend", "2026-09-23T12:06:00Z"))).status, 204);
  t.equal(await state(), "suspended");
});

t.test("a permission that its owner gives is a warning no more", async (t) => {
  const { ada, deliver } = await openOffice(t);
  const warnings = async () => {
    const { body } = await ada.request("GET", "/api/workspaces/acme/code-host");
    const [shown] = (body?.connections ?? []) as readonly { readonly warnings?: readonly string[] }[];
    return shown;
  };
  const all = { metadata: "read", members: "read", contents: "write", pull_requests: "write" };
  const accept = (permissions: object, updated_at: string) => {
    const { installation, ...event } = installationEvent("new_permissions_accepted", updated_at) as {
      installation: object;
    };
    return deliver("installation", { ...event, installation: { ...installation, permissions } });
  };
  t.equal((await accept(all, "2026-09-23T12:01:00Z")).status, 204);
  t.match(await warnings(), { state: "connected", warnings: [/^The permission workflows: write is missing/] });
  await accept({ ...all, workflows: "write" }, "2026-09-23T12:02:00Z");
  t.same((await warnings())?.warnings, undefined);
});

t.test("unused events are accepted, and counted as unused", async (t) => {
  const { service, deliver, state } = await openOffice(t);
  const unused: readonly [string, unknown][] = [
    ["ping", { zen: "Design for failure.", hook_id: 1 }],
    ["pull_request", { action: "opened", number: 2, installation: { id: 7 } }],
    ["push", "not even an object"],
    ["installation", installationEvent("created", "2026-09-23T12:01:00Z")],
    ["installation", installationEvent("toString", "2026-09-23T12:01:00Z")],
    ["installation", installationEvent("suspend", "2026-09-23T12:01:00Z", acmeOrg, 8)],
  ];
  for (const [event, payload] of unused) {
    const taken = await deliver(event, payload);
    t.equal(taken.status, 204, `${event} ${taken.text}`);
  }
  t.equal(await state(), "connected");
  await deliver("installation", installationEvent("suspend", "2026-09-23T12:01:00Z"));
  const { text } = await service.anonymous.request("GET", "/metrics");
  t.match(text, new RegExp(`signalbox_code_host_deliveries_total\\{fate="unused"\\} ${unused.length}\\n`));
  t.match(text, /signalbox_code_host_deliveries_total\{fate="used"\} 1\n/);
});

t.test("a delivery without a valid signature is refused", async (t) => {
  const { codeHost, service, state } = await openOffice(t);
  const body = JSON.stringify(installationEvent("deleted", 1_790_000_000));
  const signed = codeHost.deliveryHeaders("installation", body, "one");
  const { "x-hub-signature-256": signature = "", ...unsigned } = signed;
  const send = (headers: Record<string, string>, text = body) =>
    service.anonymous.request("POST", DELIVERIES, text, headers);
  const wrong: readonly [string, Record<string, string>, string?][] = [
    ["none", unsigned],
    ["of another body", signed, body.replace("deleted", "suspend")],
    ["of the body with a space more", signed, `${body} `],
    ["cut", { ...signed, "x-hub-signature-256": signature.slice(0, -1) }],
    ["with something more", { ...signed, "x-hub-signature-256": `${signature}00` }],
    ["without its prefix", { ...signed, "x-hub-signature-256": signature.slice(7) }],
    ["of SHA-1", { ...unsigned, "x-hub-signature": signature.replace("sha256", "sha1") }],
    ["no hexadecimal", { ...signed, "x-hub-signature-256": `sha256=${"z".repeat(64)}` }],
    ["under another secret", { ...signed, "x-hub-signature-256": `sha256=${"0".repeat(64)}` }],
  ];
  for (const [what, headers, text] of wrong) {
    const refused = await send(headers, text);
    t.same([refused.status, toSlug(refused)], [401, "unauthenticated"], what);
    t.equal(
      toProblem(refused).detail,
      "The delivery has no valid signature: set the webhook's secret to CODE_HOST_WEBHOOK_SECRET.",
    );
  }
  const lines = service.logLines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === "delivery refused");
  t.equal(lines.length, wrong.length);
  t.match(lines[0], { level: "warn", reason: "signature", count: 1 });
  t.equal(await state(), "connected");
  t.equal(
    (await send({ ...signed, "x-hub-signature-256": signature.toUpperCase().replace("SHA", "sha") })).status,
    204,
  );
});

t.test("a signed delivery that cannot be read gets a clear problem", async (t) => {
  const { codeHost, service, deliver } = await openOffice(t);
  for (const payload of ["text", {}, { action: "deleted" }, { action: "deleted", installation: { id: "7" } }]) {
    const refused = await deliver("installation", payload);
    t.same([refused.status, toProblem(refused).detail], [400, "The payload is not an installation event."]);
  }
  const sent = (body: string, id: string) =>
    service.anonymous.request("POST", DELIVERIES, body, codeHost.deliveryHeaders("installation", body, id));
  t.match(toProblem(await sent("{", "one")).detail, /^The body is not JSON/);
  t.equal(toProblem(await sent("{}", "no name!")).detail, "x-github-delivery must name the delivery.");
  const huge = `{"action":"${"x".repeat(4 * 1024 * 1024)}"}`;
  t.equal((await sent(huge, "huge")).status, 413);
});

t.test(
  "what no delivery told is learned by looking, and a code host that does not answer changes nothing",
  async (t) => {
    const { codeHost, ada, workspaceId, clock, state } = await openOffice(t);
    const reader = await StreamReader.open(ada);
    reader.subscribe(`workspace/${workspaceId}`);
    await reader.until(({ kind }) => kind === "snapshot");
    const there = codeHost.installations.get(7);
    if (there === undefined) throw new Error("it is installed");
    const looks = () => codeHost.asked.filter((name) => name === "GET /api/v3/app/installations/7").length;
    const before = looks();
    codeHost.faults.set(/installations/, { status: 500 });
    clock.advance(6 * 60 * 60_000);
    await codeHost.asking(/installations/, before + 1);
    codeHost.faults.clear();
    t.equal(await state(), "connected");
    there.suspended_at = "2026-09-23T13:00:00Z";
    there.updated_at = "2026-09-23T13:00:00Z";
    clock.advance(6 * 60 * 60_000);
    await reader.until(({ data }) => data.what === "suspended");
    codeHost.installations.delete(7);
    clock.advance(6 * 60 * 60_000);
    await reader.until(({ data }) => data.what === "deleted");
    t.equal(looks(), before + 3);
    clock.advance(24 * 60 * 60_000);
    t.equal(await state(), "deleted");
    t.equal(looks(), before + 3, "what is deleted is not looked at");
    reader.end();
  },
);

t.test("a delivery is taken as a form, as code hosts send it unless told otherwise", async (t) => {
  const { codeHost, service, state } = await openOffice(t);
  let sent = 0;
  const send = (event: string, body: string, type?: string) => {
    sent += 1;
    const { "content-type": _json, ...headers } = codeHost.deliveryHeaders(event, body, `form-${sent}`);
    return service.anonymous.request("POST", DELIVERIES, body, { ...headers, ...(type && { "content-type": type }) });
  };
  const form = (payload: unknown) => new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
  const FORM = "application/x-www-form-urlencoded";
  const suspended = installationEvent("suspend", "2026-09-23T12:01:00Z");
  t.equal((await send("installation", form(suspended), FORM)).status, 204);
  t.equal(await state(), "suspended");
  const again = installationEvent("unsuspend", "2026-09-23T12:02:00Z");
  t.equal((await send("installation", form(again), `${FORM.toUpperCase()}; charset=UTF-8`)).status, 204);
  t.equal(await state(), "connected");
  const plain = JSON.stringify(installationEvent("suspend", "2026-09-23T12:03:00Z"));
  t.equal((await send("installation", `\ufeff${plain}`, "application/json; charset=utf-8")).status, 204);
  t.equal(await state(), "suspended", "a byte order mark is no fault");
  const event = { action: "opened", number: 2, installation: { id: 7 } };
  for (const [body, type, status, detail] of [
    ["a=b", FORM, 400, "The form has no field payload."],
    ["payload=%7B", FORM, 400, /^The body is not JSON/],
    [form(event), "application/json", 400, /^The body is not JSON/],
    [JSON.stringify(event), "text/plain", 415, /^The delivery must be JSON, or a form/],
    [JSON.stringify(event), "multipart/form-data; boundary=x", 415, /^The delivery must be JSON, or a form/],
    ["{", "application/json", 400, /^The body is not JSON/],
  ] as const) {
    for (const name of ["pull_request", "push", "repository", "installation", "ping"]) {
      const refused = await send(name, body, type);
      t.equal(refused.status, status, `${name} ${body} ${type}`);
      t.match(toProblem(refused).detail, detail);
    }
  }
});

t.test("a repository that is renamed at the code host is a warning of the line that names it", async (t) => {
  const { codeHost, ada, workspaceId, teamId, deliver } = await openOffice(t);
  const app = await codeHost.work.addRepository("acme-inc/app");
  codeHost.repositories.set(7, ["acme-inc/app"]);
  const pool = { key: "main", token: "p".repeat(43) };
  await createUnder(ada, `/api/resources/workspaces/${workspaceId}/runner-pools`, pool, "pool");
  const station = { key: "work", name: "Work", kind: "work", prompt: "Do it.", runners: { pool: "main" } };
  const body = {
    key: "fix",
    name: "Fix",
    stations: [station],
    repositories: [{ name: "acme-inc/app" }],
    source: { repository: "ACME-inc/App", path: "line.tf" },
  };
  const made = await createUnder(ada, `/api/resources/teams/${teamId}/lines`, body, "line");
  t.equal(made.status, 201, made.text);
  const warnings = async () => {
    const { body: read } = await ada.request("GET", `/api/resources/lines/${made.body?.id}`);
    const all = (read?.warnings ?? []) as readonly { readonly path: string; readonly message: string }[];
    return all.flatMap(({ path, message }) => (/repositor/.test(path) ? [`${path}: ${message}`] : []));
  };
  await codeHost.work.push(app, { branch: "x", files: { "x.txt": "x" }, by: bobThere });
  await codeHost.rename(app, "acme-inc/renamed", bobThere);
  const told = codeHost.work.events.filter(({ event }) => event === "repository");
  t.match(told, [{ payload: { action: "renamed", repository: { id: app.id, full_name: "acme-inc/renamed" } } }]);
  t.same(await warnings(), []);
  for (const { event, payload } of codeHost.work.events) t.equal((await deliver(event, payload)).status, 204);
  const why = `${codeHost.name} now calls this repository acme-inc/renamed: use that name, because another repository may take the old one`;
  t.same(await warnings(), [`repositories[0].name: ${why}`, `source.repository: ${why}`]);
  const newer = { ...body, repositories: [{ name: "acme-inc/renamed" }], source: null };
  t.equal((await replace(ada, `/api/resources/lines/${made.body?.id}`, 1, newer)).status, 200);
  t.same(await warnings(), []);
});
