import t from "tap";
import type { TaskRow } from "../../actors/tasks/task.js";
import { tasks } from "../../actors/tasks/task.table.js";
import { openStore } from "../../http/process/open-store.js";
import { Overlays } from "../../runtime/turns/overlays.js";
import type { Key } from "../../storage/store.js";
import { openUnpacked } from "../fixtures/open.js";
import { unpackFixture } from "../fixtures/unpack.js";
import { RawStore } from "../support/raw-store.js";

t.test(
  "what needs a damaged row is answered 503 damaged, a stream of it ends with an error, the rest is served",
  async (t) => {
    const unpacked = unpackFixture(t, "format-1");
    const { folder, manifest } = unpacked;
    const { workspaceId, teams, tasks } = manifest;
    const store = await openStore({ folder, log: { info: () => undefined }, nowMs: () => manifest.madeAtMs });
    const row = store.reading
      .range({ prefix: [workspaceId, "row", "task"] })
      .find(({ key }) => key.at(-1) === tasks.asking);
    await store.close();
    const raw = new RawStore(folder);
    await raw.flip(row?.key ?? []);
    await raw.flip([workspaceId, "actor", "task", tasks.queued]);
    await raw.close();

    const { service, ada } = await openUnpacked(t, unpacked);
    const problem = { status: 503, body: { type: "urn:service:problem:damaged", title: /./, detail: /./ } };
    t.match(await ada.request("GET", `/api/tasks/${tasks.asking}`), problem);
    t.match(await ada.request("GET", `/api/tasks/${tasks.queued}`), { status: 200 }, "a row beside a damaged actor");
    const note = { text: "to nobody" };
    t.match(await ada.request("POST", `/api/tasks/${tasks.queued}/notes`, note), problem, "an actor's record");
    t.equal((await ada.request("GET", `/api/teams/${teams.docs}/hook-occurrences`)).status, 200);
    t.match(await ada.request("GET", `/api/workspaces/acme/members`), { status: 200 });
    const logged = await service.logged(
      /"code":"damaged","message":"a row of the store in [^"]* is damaged \(ws_\w+ task\)/,
    );
    t.notMatch(logged[0], tasks.asking);

    t.match(await ada.request("GET", `/api/tasks/${tasks.asking}`), problem, "asked again");
    const places = [`${workspaceId} row task ${tasks.asking}`, `${workspaceId} actor task ${tasks.queued}`];
    const named = service.logLines.filter((line) => line.includes('"msg":"a row is damaged"'));
    t.match(
      named.map((line) => JSON.parse(line)),
      places.map((key) => ({ key })),
      "each is named once",
    );
    t.equal(named.length, places.length);
    const metrics = (await service.anonymous.request("GET", "/metrics")).text;
    t.match(metrics, /^signalbox_damaged_rows 2$/m);
    t.match(metrics, /^signalbox_damaged_turns 1$/m);
    const socket = ada.socket("/api/stream", { origin: service.baseUrl });
    await new Promise((resolve) => socket.once("open", resolve));
    const heard = new Promise((resolve) => socket.once("message", (data) => resolve(JSON.parse(String(data)))));
    socket.send(JSON.stringify({ subscribe: `task/${tasks.asking}` }));
    t.match(await heard, { topic: `task/${tasks.asking}`, kind: "error", data: { message: /damaged/ } });
    socket.close();
  },
);

t.test("only who may see a resource is told that it is damaged", async (t) => {
  const unpacked = unpackFixture(t, "format-1");
  const { folder, manifest } = unpacked;
  const { workspaceId } = manifest;
  const store = await openStore({ folder, log: { info: () => undefined }, nowMs: () => manifest.madeAtMs });
  const [pool] = store.reading.range({ prefix: [workspaceId, "row", "resource", "runner-pool"] });
  await store.close();
  const raw = new RawStore(folder);
  await raw.flip(pool?.key ?? []);
  await raw.close();

  const { service, ada } = await openUnpacked(t, unpacked);
  const stranger = await service.signIn("eve@example.com");
  const path = `/api/resources/runner-pools/${pool?.key.at(-1)}`;
  const damaged = { status: 503, body: { type: "urn:service:problem:damaged" } };
  const ofNone = await stranger.request("GET", "/api/resources/runner-pools/pool_00000000000000000000000000");
  t.equal(ofNone.status, 404);
  for (const method of ["GET", "DELETE"] as const) {
    t.match(await ada.request(method, path), damaged, `${method} by who may see it`);
    const { status, body } = await stranger.request(method, path);
    t.same({ status, body: { ...body, requestId: null } }, { status: 404, body: { ...ofNone.body, requestId: null } });
  }
});

/** Returns rows of the fixture's store. The store is migrated, but no service runs on it. */
async function storedRows({ folder, manifest }: ReturnType<typeof unpackFixture>, ...read: string[]) {
  const store = await openStore({ folder, log: { info: () => undefined }, nowMs: () => manifest.madeAtMs });
  const found = store.reading.range<{ id: string; address: string }>({
    prefix: [manifest.workspaceId, "row", ...read],
  });
  await store.close();
  return found;
}

t.test("an address whose row is missing is damaged: lists, imports and exports say so", async (t) => {
  const unpacked = unpackFixture(t, "format-1");
  const { folder, manifest } = unpacked;
  const { workspaceId } = manifest;
  const [lost, kept] = await storedRows(unpacked, "resource", "runner-pool");
  if (lost === undefined) throw new Error("the fixture has no pool");
  const raw = new RawStore(folder);
  await raw.lose(lost.key);
  await raw.close();

  const { service, ada } = await openUnpacked(t, unpacked);
  const damaged = { status: 503, body: { type: "urn:service:problem:damaged" } };
  const path = `/api/resources/workspaces/${workspaceId}/runner-pools`;
  t.match(await ada.request("GET", path), damaged, "a list is not cut short");
  t.match(await ada.request("GET", `${path}/import?address=${lost.value.address}`), damaged);
  t.match(await ada.request("GET", `${path}/import?address=none`), { status: 404 });
  if (kept !== undefined) {
    t.match(await ada.request("GET", `${path}/import?address=${kept.value.address}`), { status: 200 });
  }
  t.match(await ada.request("GET", `/api/resources/workspaces/${workspaceId}/secrets`), { status: 200 });
  t.match((await service.anonymous.request("GET", "/metrics")).text, /^signalbox_damaged_rows 1$/m);
  const named = service.logLines.filter((line) => line.includes('"msg":"a row is damaged"'));
  t.match(
    named.map((line) => JSON.parse(line).key),
    [`${workspaceId} row resource … ${lost.value.id}`],
  );
});

t.test("a resource whose row is lost is damaged by its id too, for those who would see it", async (t) => {
  const unpacked = unpackFixture(t, "format-1");
  const { folder, manifest } = unpacked;
  const { workspaceId } = manifest;
  const plurals = {
    hook: "hooks",
    line: "lines",
    secret: "secrets",
    "runner-pool": "runner-pools",
    "replay-candidate": "replay-candidates",
    "workspace-token-trust": "token-trusts",
    integration: "integrations",
    team: "teams",
  };
  const stored = await storedRows(unpacked, "resource");
  // Keep this team and two of its hooks: `openUnpacked` waits for further attempts of these hooks.
  const { teams, hooks } = manifest;
  const isNeeded = ({ id }: { readonly id: string }) => [teams.core, hooks.hanging, hooks.late].includes(id);
  const lost: [path: string, id: string][] = [];
  const raw = new RawStore(folder);
  for (const [kind, plural] of Object.entries(plurals)) {
    const row = stored.filter(({ key, value }) => key[3] === kind && !isNeeded(value)).at(-1);
    if (row === undefined) throw new Error(`the fixture has no ${kind}`);
    await raw.lose(row.key);
    lost.push([`/api/resources/${plural}`, row.value.id]);
  }
  await raw.close();

  const { service, ada } = await openUnpacked(t, unpacked);
  const stranger = await service.signIn("eve@example.com");
  const damaged = { status: 503, body: { type: "urn:service:problem:damaged" } };
  for (const [path, id] of lost) {
    for (const [method, rest, body] of [
      ["GET", ""],
      ["GET", "/hcl"],
      ["DELETE", ""],
      ["PUT", "", {}],
    ] as const) {
      // Candidates never change, and are not part of a workspace's configuration.
      if (path.endsWith("/replay-candidates") && (method === "PUT" || rest !== "")) continue;
      const headers = { "if-match": '"1"' };
      t.match(await ada.request(method, `${path}/${id}${rest}`, body, headers), damaged, `${method} ${path}${rest}`);
      const { status } = await stranger.request(method, `${path}/${id}${rest}`, body, headers);
      t.equal(status, 404, `${method} ${path}${rest} by a stranger`);
    }
  }
  const [, team = ""] = lost.find(([path]) => path.endsWith("/teams")) ?? [];
  t.match(await ada.request("GET", `/api/teams/${team}/tasks`), damaged, "what a lost team holds");
  t.match((await service.anonymous.request("GET", "/metrics")).text, /^signalbox_damaged_rows 8$/m);
  t.match(await ada.request("GET", `/api/resources/workspaces/${workspaceId}`), { status: 200 });
});

t.test("a task, a run, a pull request and an approval whose rows are lost are damaged, not gone", async (t) => {
  const unpacked = unpackFixture(t, "format-1");
  const { folder, manifest } = unpacked;
  const { workspaceId, runs } = manifest;
  const stored = await storedRows(unpacked);
  const read = (name: string) => stored.filter(({ key }) => key[2] === name);
  const isAsking = ({ key }: { readonly key: Key }) => key.includes(runs.asking);
  const run = read("run").find((row) => !isAsking(row));
  const task = read("task").find(({ value }) => value.id !== manifest.tasks.asking);
  const pullRequest = read("pull-request")[0];
  const approval = read("approval").find(isAsking);
  const raw = new RawStore(folder);
  for (const row of [run, task, approval, pullRequest]) if (row !== undefined) await raw.lose(row.key);
  await raw.close();

  const { service, ada } = await openUnpacked(t, unpacked);
  const stranger = await service.signIn("eve@example.com");
  const paths = [
    `/api/tasks/${task?.value.id}`,
    `/api/tasks/${task?.value.id}/runs`,
    `/api/runs/${run?.value.id}`,
    `/api/runs/${runs.asking}/approvals`,
    ...(pullRequest === undefined ? [] : [`/api/pull-requests/${pullRequest.value.id}`]),
  ];
  for (const path of paths) {
    t.match(await ada.request("GET", path), { status: 503, body: { type: "urn:service:problem:damaged" } }, path);
    t.equal((await stranger.request("GET", path)).status, 404, path);
  }
  t.equal((await ada.request("GET", "/api/tasks/task_00000000000000000000000000")).status, 404);
  t.match(await ada.request("GET", `/api/teams/${manifest.teams.docs}/hook-occurrences`), { status: 200 }, workspaceId);
});

t.test(
  "an entry of an index whose row is missing is damaged, and what follows is reached by a page after it",
  async (t) => {
    const unpacked = unpackFixture(t, "format-1");
    const { folder, manifest } = unpacked;
    const tasks = await storedRows(unpacked, "task");
    const teamId = manifest.teams.core;
    const own = tasks.filter(({ value }) => Reflect.get(value, "teamId") === teamId);
    const [newest, lost, next] = own.map(({ key }) => String(key.at(-1))).reverse();
    const raw = new RawStore(folder);
    await raw.lose([manifest.workspaceId, "row", "task", lost ?? ""]);
    await raw.close();

    const { ada } = await openUnpacked(t, unpacked);
    const path = `/api/teams/${teamId}/tasks`;
    t.match(await ada.request("GET", path), { status: 503, body: { type: "urn:service:problem:damaged" } });
    t.match(await ada.request("GET", `${path}?limit=1`), { status: 200, body: { items: [{ id: newest }] } });
    t.match(await ada.request("GET", `${path}?before=${lost}`), { status: 200, body: { items: [{ id: next }] } });
  },
);

t.test("a damaged entry of the inbox hides the page that lists it, and no other page, and no count", async (t) => {
  const unpacked = unpackFixture(t, "format-1");
  const { folder, manifest } = unpacked;
  const { workspaceId, teams } = manifest;
  const store = await openStore({ folder, log: { info: () => undefined }, nowMs: () => manifest.madeAtMs });
  const [asking] = store.reading.range<TaskRow>({ prefix: [workspaceId, "row", "task"] });
  if (asking === undefined) throw new Error("the fixture has no task");
  const rows = new Overlays(store.reading);
  const turn = Object.assign(rows, { publishRow: () => undefined, now: 0, send: () => undefined });
  rows.beginTurn();
  const sinceMs = 1_600_000_000_000;
  const ids = ["A", "B", "C", "D", "E"].map((last) => `task_01J0000000000000000000000${last}`);
  for (const [n, id] of ids.entries()) {
    const waits = { kind: "question", sinceMs: sinceMs + n } as const;
    const row = {
      ...asking.value,
      id,
      teamId: teams.core,
      assignee: null,
      state: "inbox",
      asks: "Why?",
      waits,
    } as const;
    tasks.insert(turn, workspaceId, row);
  }
  await store.commit(rows.close().changes());
  await store.close();
  const raw = new RawStore(folder);
  for (const whom of ["all", "none"]) {
    await raw.flip([workspaceId, "row", "task-wait", teams.core, whom, sinceMs + 2, ids[2] ?? ""]);
  }
  await raw.close();

  const { ada } = await openUnpacked(t, unpacked);
  const damaged = { status: 503, body: { type: "urn:service:problem:damaged" } };
  const counts = { me: 1, none: 5, all: 6 };
  const page = async (limit: number, after: string | null = null) => {
    const path = `/api/inbox?assignee=all&limit=${limit}${after === null ? "" : `&after=${after}`}`;
    return await ada.request("GET", path);
  };
  const first = await page(2);
  t.match(first, {
    status: 200,
    body: { items: [{ id: ids[0] }, { id: ids[1] }], counts, next: `${sinceMs + 1}-${ids[1]}` },
  });
  t.match(await page(2, String(first.body?.next)), damaged, "the page with the entry");
  t.match(await page(3), damaged, "a longer page with the entry");
  const rest = await page(2, `${sinceMs + 2}-${ids[2]}`);
  t.match(rest, { status: 200, body: { items: [{ id: ids[3] }, { id: ids[4] }], counts } }, "the page after it");
  t.match(await ada.request("GET", "/api/inbox"), { status: 200, body: { items: [{ kind: "approval" }], counts } });
});
