import t, { type Test } from "tap";
import type { Scope, TokenCaller } from "../../../actors/caller.js";
import { isRefusal } from "../../../actors/refusal.js";
import { type OpenTask, taskRef } from "../../../actors/tasks/task.messages.js";
import { hookReceiver, hookSecret } from "../../support/hook-receiver.js";
import { personAt } from "../../support/people.js";
import { bearer, createUnder, listItems, remove, replace, toSlug } from "../../support/resources.js";
import type { Client, Reply } from "../../support/service.js";
import { StreamReader } from "../../support/stream-reader.js";
import { openShop } from "../../support/token-shop.js";
import { openWorkplace, type Workplace } from "../../support/workplace.js";

/** Tests the scope `work`: a token opens tasks, adds notes, and closes the tasks that it opened. */

const wanted = { title: "The tests fail", line: "dev" };

const issue = ({ service, ada, workspaceId }: Workplace, name: string, scopes: readonly Scope[] = ["work"]) =>
  bearer(service, ada, { workspaceId, name, scopes });
const open = (client: Client, { teamId }: Pick<Workplace, "teamId">, key?: string, body: object = wanted) =>
  client.request("POST", `/api/teams/${teamId}/tasks`, body, key === undefined ? {} : { "idempotency-key": key });
const command = (client: Client, taskId: unknown, name: "close" | "notes", headers: Record<string, string> = {}) =>
  client.request("POST", `/api/tasks/${taskId}/${name}`, name === "notes" ? { text: "See the log." } : {}, headers);
const listTasks = async ({ ada, teamId }: Workplace) =>
  listItems(await ada.request("GET", `/api/teams/${teamId}/tasks`));

t.test("a token with the scope work opens a task for nobody, adds a note to it and closes it", async (t) => {
  const place = await openWorkplace(t);
  const ci = await issue(place, "ci");
  const reader = await StreamReader.open(ci);
  reader.subscribe(`team/${place.teamId}`);
  await reader.until(({ kind }) => kind === "snapshot");
  const opened = await open(ci, place);
  const openedBy = { kind: "token", tokenId: ci.tokenId, name: "ci", trust: null };
  t.equal(opened.status, 201, opened.text);
  t.match(opened.body, { state: "queued", station: "work", assignee: null, notes: { length: 0 } });
  const change = await reader.until(({ kind }) => kind === "change");
  const streamed = change.data.task as { readonly openedBy: unknown };
  const shown = [opened.body, await place.task(String(opened.body?.id)), (await listTasks(place))[0], streamed];
  t.same(
    shown.map((task) => task?.openedBy),
    [openedBy, openedBy, openedBy, openedBy],
    "in its answer, when read, in the list and on the stream",
  );
  const noted = await command(ci, opened.body?.id, "notes");
  t.match(noted, { status: 200, body: { notes: [{ from: "token ci" }] } });
  const closed = await command(ci, opened.body?.id, "close");
  t.same([closed.status, closed.body?.state], [200, "closed"]);
  t.match(await place.runs(String(opened.body?.id)), [{ state: "ended", outcome: "withdrawn" }]);
  const again = await command(ci, opened.body?.id, "close");
  t.same([again.status, toSlug(again)], [409, "conflict"]);
  reader.end();
});

t.test("a token opens a task for a person on the team, who answers it, and for no stranger", async (t) => {
  const place = await openWorkplace(t);
  const ci = await issue(place, "ci", ["read", "work"]);
  const { userId } = await personAt(place.service, "ada@example.com");
  const opened = await open(ci, place, undefined, { ...wanted, assignee: userId });
  t.same([opened.status, opened.body?.assignee], [201, userId]);
  const stranger = await open(ci, place, undefined, { ...wanted, assignee: "usr_nobody" });
  t.match(stranger.body, { status: 422, errors: [{ path: "assignee" }] });
  const lines = await open(ci, place, undefined, { ...wanted, line: "gone" });
  t.match(lines.body, { status: 422, errors: [{ path: "line" }] });
});

t.test("a token without the scope work opens, notes and closes nothing, whatever else it may", async (t) => {
  const place = await openWorkplace(t);
  const taskId = await place.open();
  const others: readonly (readonly Scope[])[] = [
    ["read"],
    ["plan"],
    ["configure"],
    ["configure", "secrets", "runners", "trusts"],
  ];
  const refused = {
    type: "urn:service:problem:forbidden",
    title: "Not allowed to open tasks",
    status: 403,
    detail: "This needs the permission work, which your role or token does not give.",
    permission: "work",
  };
  for (const [n, scopes] of others.entries()) {
    const token = await issue(place, `other-${n}`, scopes);
    const answers = [
      await open(token, place),
      await command(token, taskId, "notes"),
      await command(token, taskId, "close"),
    ];
    for (const { body } of answers) t.same(body, refused, scopes.join());
  }
  t.match(await place.task(taskId), { state: "queued", notes: { length: 0 } });
  t.equal((await listTasks(place)).length, 1);
});

t.test("a token closes no task that it did not open, and may add a note to it", async (t) => {
  const place = await openWorkplace(t);
  const [ci, bot] = [await issue(place, "ci"), await issue(place, "bot", ["configure", "work"])];
  const theirs = await open(bot, place);
  const ended = await place.open();
  await command(place.ada, ended, "close");
  for (const taskId of [await place.open(), theirs.body?.id, ended]) {
    const { status, body } = await command(ci, taskId, "close");
    t.same([status, body?.title, body?.permission], [403, "Not the opener of the task", undefined]);
    t.match(String(body?.detail), /^A token closes only the tasks that it opened\./);
    t.equal((await command(ci, taskId, "notes")).status, 200);
  }
  t.match(await place.task(String(theirs.body?.id)), { state: "queued", notes: [{ from: "token ci" }] });
  const closed = await command(place.ada, theirs.body?.id, "close");
  t.same([closed.status, closed.body?.state], [200, "closed"], "people on the team close every task");
});

t.test("an idempotency key belongs to its token", async (t) => {
  const place = await openWorkplace(t);
  const [ci, bot] = [await issue(place, "ci"), await issue(place, "bot")];
  const replayed = ({ status, headers }: Reply) => [status, headers["idempotent-replayed"]];
  const first = await open(ci, place, "one");
  const [again, other, ours] = [
    await open(ci, place, "one"),
    await open(bot, place, "one"),
    await open(place.ada, place, "one"),
  ];
  t.same([first, again, other, ours].map(replayed), [
    [201, undefined],
    [201, "true"],
    [201, undefined],
    [201, undefined],
  ]);
  t.equal(again.body?.id, first.body?.id);
  t.equal((await listTasks(place)).length, 3);
  const different = await open(ci, place, "one", { ...wanted, title: "Another" });
  t.same([different.status, toSlug(different)], [422, "idempotency-key-reused"]);
  const key = { "idempotency-key": "two" };
  for (const name of ["notes", "close"] as const) {
    t.same(replayed(await command(ci, first.body?.id, name, key)), [200, undefined], name);
    t.same(replayed(await command(ci, first.body?.id, name, key)), [200, "true"], name);
  }
  t.match(await place.task(String(first.body?.id)), { state: "closed", notes: { length: 1 } });
});

t.test("hooks and their expressions see the token that opened a task", async (t) => {
  const receiver = await hookReceiver(t, (response) => response.end());
  const place = await openWorkplace(t, { settings: { OUTBOUND_ALLOW: receiver.url } });
  await place.ada.create(`/api/resources/teams/${place.teamId}/hooks`, {
    key: "tell",
    on: "task.opened",
    when: 'task.openedBy.kind == "token" && task.openedBy.name == "ci"',
    steps: [
      { name: "whole", request: { url: receiver.url } },
      { name: "part", request: { url: receiver.url, body: { by: `$${"{{ task.openedBy.tokenId }}"}` } } },
    ],
    signing: { secret: hookSecret, secretVersion: 1 },
  });
  const ci = await issue(place, "ci");
  await place.open();
  await open(await issue(place, "bot"), place);
  const opened = await open(ci, place);
  const [whole, part] = await receiver.arrived(2);
  t.match(whole?.verified, {
    task: { id: opened.body?.id, openedBy: { kind: "token", tokenId: ci.tokenId, name: "ci", trust: null } },
  });
  t.same(part?.verified, { by: ci.tokenId });
  const events = await ci.request("GET", `/api/teams/${place.teamId}/events?event=task.opened`);
  t.same([listItems(events).length, listItems(events)[0]?.taskId], [3, opened.body?.id]);
});

/** Opens a shop whose trust mints tokens with the scope `work`, with a line `dev`. */
async function openWorkShop(t: Test) {
  const shop = await openShop(t, { terms: { scopes: ["work"] } });
  const within = `/api/resources/workspaces/${shop.workspaceId}`;
  await shop.ada.create(`${within}/runner-pools`, { key: "main" });
  const [team] = listItems(await shop.ada.request("GET", `${within}/teams`));
  const teamId = String(team?.id);
  const stations = [{ key: "work", name: "Work", kind: "work", runners: { pool: "main" } }];
  const line = { key: "dev", name: "Dev", repositories: [{ name: "acme/app" }], stations };
  const { id: lineId } = await shop.ada.create(`/api/resources/teams/${teamId}/lines`, line);
  return { ...shop, teamId, lineId };
}

t.test("a minted token works under its trust's name, and closes what it opened itself", async (t) => {
  const shop = await openWorkShop(t);
  const [ci, later] = [await shop.minted(), await shop.minted()];
  const opened = await open(ci, shop);
  const openedBy = { kind: "token", tokenId: ci.tokenId, name: "ci", trust: shop.trust.id };
  t.same([opened.status, opened.body?.openedBy], [201, openedBy], opened.text);
  t.match((await command(later, opened.body?.id, "notes")).body, { notes: [{ from: "trust ci" }] });
  t.equal((await command(later, opened.body?.id, "close")).status, 403, "another token of the same trust");
  t.match((await command(ci, opened.body?.id, "close")).body, { state: "closed" });
  await replace(shop.ada, `/api/resources/token-trusts/${shop.trust.id}`, 1, { ...shop.body, lifetimeMinutes: 20 });
  t.equal((await open(ci, shop)).status, 401, "the trust changed");
  t.same((await shop.ada.request("GET", `/api/tasks/${opened.body?.id}`)).body?.openedBy, openedBy);
});

t.test(
  "a token opens nothing where it sees nothing, nor when the line, the team or the workspace is gone",
  async (t) => {
    const shop = await openWorkShop(t);
    const { ada, workspaceId, teamId } = shop;
    const token = await bearer(shop.service, ada, { workspaceId, name: "work", scopes: ["work"] });
    const eve = await shop.service.signIn("eve@example.com");
    const elsewhere = await eve.create("/api/resources/workspaces", { slug: "elsewhere", name: "Elsewhere" });
    const theirs = await eve.create(`/api/resources/workspaces/${elsewhere.id}/teams`, { key: "core", name: "Core" });
    for (const hidden of [theirs.id, "team_01KAHX5E8GJMPQS1T3V5X7Z9AB"]) {
      const answer = await open(token, { teamId: hidden });
      t.same([answer.status, toSlug(answer)], [404, "not-found"]);
    }
    const version = async (path: string) => Number((await ada.request("GET", path)).body?.version);
    const gone = async (path: string) => t.equal((await remove(ada, path, await version(path))).status, 204, path);
    await gone(`/api/resources/lines/${shop.lineId}`);
    t.match((await open(token, shop)).body, { status: 422, errors: [{ path: "line" }] });
    await gone(`/api/resources/teams/${teamId}`);
    t.equal((await open(token, shop)).status, 404);
    await gone(`/api/resources/workspaces/${workspaceId}`);
    t.equal((await open(token, shop)).status, 401);
  },
);

t.test("a token that ends while its command waits opens nothing", async (t) => {
  const place = await openWorkplace(t);
  const ci = await issue(place, "ci");
  const { runtime } = place.service;
  const id = runtime.newId("task");
  const opened = await open(ci, place);
  await remove(place.ada, `/api/resources/tokens/${ci.tokenId}`, 1);
  t.equal((await open(ci, place)).status, 401);
  const { workspaceId, teamId } = place;
  const caller: TokenCaller = {
    kind: "token",
    tokenId: ci.tokenId,
    workspaceId,
    scopes: ["work"],
    issuedBy: "usr_1",
    trust: null,
  };
  const late: OpenTask = {
    type: "task.open",
    teamId,
    lineId: String(opened.body?.lineId),
    title: "Late",
    description: "",
    url: "",
    station: null,
    assignee: null,
    by: "usr_1",
    token: caller,
  };
  const answer = await runtime.ask(taskRef(workspaceId, id), late);
  t.equal(isRefusal(answer) && answer.refused, "unauthenticated");
  t.equal((await listTasks(place)).length, 1);
  t.match((await place.task(String(opened.body?.id))).openedBy, { name: "ci" }, "its task still says who opened it");
});

t.test("a trust that mints the scope work is defined by those who hold it, and exported with it", async (t) => {
  const shop = await openShop(t, { terms: { scopes: ["work"] } });
  const { service, ada, workspaceId, body, trust } = shop;
  const within = `/api/resources/workspaces/${workspaceId}`;
  const without = await bearer(service, ada, { workspaceId, name: "without", scopes: ["configure", "trusts"] });
  const holding = await bearer(service, ada, { workspaceId, name: "holding", scopes: ["read", "trusts", "work"] });
  const more = await createUnder(without, `${within}/token-trusts`, { ...body, key: "more" }, "more");
  t.match(more.body, { status: 403, permission: "manage-token-trusts" });
  t.equal((await remove(without, `/api/resources/token-trusts/${trust.id}`, 1)).status, 403);
  const own = await createUnder(holding, `${within}/token-trusts`, { ...body, key: "own" }, "own");
  t.same([own.status, own.body?.scopes], [201, ["work"]], own.text);
  const hcl = await ada.request("GET", `/api/resources/token-trusts/${trust.id}/hcl`);
  t.match(String(hcl.body?.hcl), /scopes\s+= \["work"\]/);
  const imported = await ada.request("GET", `${within}/token-trusts/import?address=ci`);
  t.same(imported.body?.scopes, ["work"]);
  t.match((await shop.exchange(await shop.issuer.token())).body, { scopes: ["work"] });
  t.same((await shop.minted()).credentials.authorization?.startsWith("Bearer "), true);
});
