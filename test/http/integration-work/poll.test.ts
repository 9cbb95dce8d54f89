import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import t, { type Test } from "tap";
import { deliveries } from "../../../actors/integration-work/deliveries/delivery.table.js";
import { polls } from "../../../actors/integrations/poll.table.js";
import { expr } from "../../support/integration.js";
import { until } from "../../support/until.js";
import { openWorkplace } from "../../support/workplace.js";

/** Starts a host that answers according to the request's cursor, and with 503 for the cursor `down`. */
async function itemsHost(t: Test) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const since = new URL(request.url ?? "", "http://host").searchParams.get("since") ?? "none";
    asked.push(since);
    response.writeHead(since === "down" ? 503 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify({ items: [], next: `${since}+1` }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => new Promise((resolve) => server.close(resolve)));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

t.test("a poll is read, asked now, and given another cursor", async (t) => {
  const host = await itemsHost(t);
  const place = await openWorkplace(t, { settings: { OUTBOUND_ALLOW: host.url } });
  const { ada, service, workspaceId, teamId } = place;
  const request = { url: `${host.url}/items`, query: { since: expr("cursor") } };
  const event = { forEach: expr("body.items"), raise: { say: expr("item.text") } };
  const { id } = await ada.create(`/api/resources/teams/${teamId}/integrations`, {
    integration: "feed",
    name: "Feed",
    hosts: [new URL(host.url).host],
    poll: { everyMinutes: 60, request, cursor: expr("body.next"), events: [event] },
  });
  const at = `/api/integrations/${id}/poll`;
  const { reading } = service.runtime;
  const row = () => polls.get(reading, workspaceId, id);
  const rested = (failures: number, cursor: string) =>
    until(`it rests at ${cursor}`, () => {
      const poll = row();
      return poll?.state === "resting" && poll.cursor === cursor && poll.failures === failures && poll.lastAt !== null;
    });
  await until("the poll has begun", () => row() !== undefined);
  t.match((await ada.request("GET", at)).body, { state: "resting", cursor: "", lastAt: null, failures: 0 });

  const now = await ada.request("POST", `${at}/now`, {}, { "idempotency-key": "k" });
  t.match([now.status, now.body], [202, { state: "asking", nextAt: null }]);
  await rested(0, "+1");
  const again = await ada.request("POST", `${at}/now`, {}, { "idempotency-key": "k" });
  t.match([again.headers["idempotent-replayed"], again.body], ["true", { state: "resting" }]);
  t.same(host.asked, [""]);
  t.match(deliveries.list(reading, workspaceId, [id]), [{ source: "poll", block: "poll", cursor: "" }]);

  const set = await ada.request("PUT", `${at}/cursor`, { cursor: "down" });
  t.match([set.status, set.body], [200, { cursor: "down", state: "resting" }]);
  await ada.request("POST", `${at}/now`, {});
  await rested(1, "down");
  t.match((await ada.request("GET", at)).body, {
    lastStatus: 503,
    failures: 1,
    problem: { code: "server-error" },
  });
  t.equal((await ada.request("PUT", `${at}/cursor`, { cursor: "x".repeat(5_000) })).status, 422);
  const metrics = await service.anonymous.request("GET", "/metrics");
  t.match(
    service.logLines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === "poll failing"),
    [{ level: "warn", integrationId: /^int_/, failures: 1 }],
  );
  for (const fate of ["answered", "failed"]) t.match(metrics.text, `signalbox_polls_total{fate="${fate}"} 1\n`);

  const bea = await service.signIn("bea@example.com");
  t.equal((await bea.request("GET", at)).status, 404);
  t.equal((await ada.request("GET", `/api/integrations/int_none/poll`)).status, 404);
  const { id: pushed } = await ada.create(`/api/resources/teams/${teamId}/integrations`, {
    integration: "pushed",
    name: "Pushed",
  });
  for (const [method, path, body] of [
    ["GET", "", undefined],
    ["POST", "/now", {}],
  ] as const) {
    const none = await ada.request(method, `/api/integrations/${pushed}/poll${path}`, body);
    t.match([none.status, none.body], [404, { detail: "The integration has no poll." }], path);
  }
});

t.test("events of a poll see the headers of its answer, without credentials and secrets", async (t) => {
  const server = createServer((_request, response) => {
    response.setHeader("Set-Cookie", ["a=1", "b=2"]);
    response.setHeader("X-Total", "7");
    response.setHeader("Link", ['<a>; rel="next"', '<b>; rel="last"']);
    response.setHeader("X-Echo", "the-feed-key");
    response.writeHead(200, { "content-type": "application/json" });
    response.end('{"items":[1]}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => new Promise((resolve) => server.close(resolve)));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const place = await openWorkplace(t, { settings: { OUTBOUND_ALLOW: url } });
  const { ada, service, workspaceId, teamId } = place;
  const hosts = [new URL(url).host];
  const secret = { name: "feed-key", value: "the-feed-key", valueVersion: 1, hosts };
  await ada.create(`/api/resources/workspaces/${workspaceId}/secrets`, secret);
  const seen =
    'headers["x-total"] + " " + headers["link"] + " " + headers["x-echo"] + " " + string("set-cookie" in headers)';
  const event = {
    when: expr('headers["x-total"] == "7"'),
    raise: { opens: { line: "dev", title: expr(seen) }, marks: { feed: { value: expr('headers["x-total"]') } } },
  };
  const { id } = await ada.create(`/api/resources/teams/${teamId}/integrations`, {
    integration: "feed",
    name: "Feed",
    hosts,
    connection: { token: { secret: "feed-key" } },
    poll: { everyMinutes: 60, request: { url: `${url}/items` }, events: [event] },
  });
  const { reading } = service.runtime;
  await until("the poll has begun", () => polls.get(reading, workspaceId, id) !== undefined);
  await ada.request("POST", `/api/integrations/${id}/poll/now`, {});
  const [row] = await until("its answer is worked", () => {
    const rows = deliveries.list(reading, workspaceId, [id]);
    return rows[0]?.state === "done" ? rows : null;
  });
  t.match(row?.headers, { "x-total": "7", "content-type": "application/json", "x-echo": "***" });
  t.notOk("set-cookie" in (row?.headers ?? {}));
  const tasks = (await ada.request("GET", `/api/teams/${teamId}/tasks`)).body?.items;
  t.match(tasks, [{ title: '7 <a>; rel="next", <b>; rel="last" *** false', marks: { feed: "7" } }]);
});
