import t from "tap";
import { createMemoryStore } from "../../../storage/memory-store.js";
import { join, personAt } from "../../support/people.js";
import { storePullRequest } from "../../support/pull-request-rows.js";
import { bearer, listItems, remove, workspaceWithTeam } from "../../support/resources.js";
import { type Client, startTestService } from "../../support/service.js";

const search = (client: Client, q: string, more = "") =>
  client.request("GET", `/api/workspaces/acme/search?q=${encodeURIComponent(q)}${more}`);
const find = async (client: Client, q: string) =>
  listItems(await search(client, q)).map(({ kind, title }) => `${kind}: ${title}`);

async function openScene(t: Parameters<typeof startTestService>[0]) {
  const store = createMemoryStore();
  const service = await startTestService(t, { store, settings: { OUTBOUND_ALLOW: "hooks.example.com" } });
  const ada = await personAt(service, "ada@example.com");
  const { workspaceId, teamId } = await workspaceWithTeam(ada);
  const of = `/api/resources/teams/${teamId}`;
  const stations = [{ key: "first-look", name: "Triage desk", kind: "work" }];
  const line = await ada.create(`${of}/lines`, { key: "bug-fixes", name: "Repairs", stations });
  const files = [{ path: "SKILL.md", content: "Look." }];
  const made = {
    skill: await ada.create(`${of}/skills`, { key: "triage", name: "How to triage", description: "", files }),
    profile: await ada.create(`${of}/harness-profiles`, { key: "triage-fast", harness: "command" }),
    hook: await ada.create(`${of}/hooks`, {
      key: "tell-triage",
      on: "task.opened",
      steps: [{ name: "tell", request: { url: "https://hooks.example.com" } }],
      signing: { secret: `whsec_${Buffer.alloc(32).toString("base64")}`, secretVersion: 1 },
    }),
    integration: await ada.create(`${of}/integrations`, { integration: "tracker", name: "Triage tracker", hosts: [] }),
  };
  const open = async (title: string) => {
    const opened = await ada.request("POST", `/api/teams/${teamId}/tasks`, { title, line: "bug-fixes" });
    if (opened.status !== 201) throw new Error(opened.text);
    return String(opened.body?.id);
  };
  return { store, service, ada, workspaceId, teamId, line, open, made };
}

t.test("every kind is found by the words of its title, and leads to its page", async (t) => {
  const { store, ada, service, workspaceId, teamId, line, open, made } = await openScene(t);
  const taskId = await open("Triage the Größe of the Login page");
  const pullRequestId = await storePullRequest(store, workspaceId, { teamId, title: "Triage by hand", number: 4321 });
  const bob = await join(service, ada, "triage.bob@example.com");
  const found = await search(ada, "triage");
  const configuration = "/w/acme/configuration";
  t.same(
    listItems(found)
      .map(({ kind, path }) => [kind, path])
      .sort(),
    [
      ["harness-profile", `${configuration}/harness-profiles/${made.profile.id}`],
      ["hook", `${configuration}/hooks/${made.hook.id}`],
      ["integration", `/integrations/${made.integration.id}`],
      ["person", "/w/acme/people"],
      ["pull-request", `/pull-requests/${pullRequestId}`],
      ["skill", `${configuration}/skills/${made.skill.id}`],
      ["station", "/w/acme/t/core/lines/bug-fixes"],
      ["task", `/tasks/${taskId}`],
    ],
  );
  t.equal(found.body?.truncated, false);
  t.match(listItems(await search(ada, "page grösse LOG")), [{ kind: "task", id: taskId, teamId, title: /Größe/ }]);
  t.same(await find(ada, "repairs"), ["line: Repairs"]);
  t.same(await find(ada, "bug-fixes"), ["line: Repairs"], "by key");
  t.same(await find(ada, "first look"), ["station: Triage desk"], "by key");
  t.same(await find(ada, "core"), ["team: Core"]);
  t.same(await find(ada, "#4321"), ["pull-request: Triage by hand"]);
  t.same(await find(ada, "#432"), []);
  for (const [id, kind] of [
    [taskId, "task"],
    [line.id, "line"],
    [pullRequestId, "pull-request"],
    [bob.userId, "person"],
  ] as const) {
    t.match(listItems(await search(ada, ` ${id} `)), [{ kind, id }], kind);
  }
  for (const q of ["", " ", "!?", "riage", "triage nothing", "%_*"]) t.same(await find(ada, q), [], JSON.stringify(q));
});

t.test("a search returns only what the caller may see", async (t) => {
  const { store, ada, service, workspaceId, teamId, open } = await openScene(t);
  const taskId = await open("Triage it");
  const pullRequestId = await storePullRequest(store, workspaceId, { teamId, title: "Triage by hand" });
  const member = await join(service, ada, "member@example.com");
  const token = await bearer(service, ada, { workspaceId, name: "reader", scopes: ["read"] });
  const eve = await personAt(service, "eve@example.com");
  await workspaceWithTeam(eve, "elsewhere");
  t.notOk((await find(member, "triage")).some((one) => one.startsWith("pull-request")));
  t.ok((await find(member, "triage")).includes("task: Triage it"));
  t.same(listItems(await search(member, pullRequestId)), []);
  t.ok((await find(token, "triage")).includes("pull-request: Triage by hand"));
  t.same(await find(token, "member"), [], "tokens see no people");
  t.match(await find(ada, "member"), ["person: "]);
  t.equal((await search(eve, "triage")).status, 404);
  const elsewhere = `/api/workspaces/elsewhere/search?q=`;
  t.same(listItems(await eve.request("GET", `${elsewhere}triage`)), []);
  t.same(listItems(await eve.request("GET", `${elsewhere}${taskId}`)), []);
  t.same(listItems(await ada.request("GET", `/api/workspaces/acme/search?q=${eve.userId}`)), []);
  t.equal((await service.anonymous.request("GET", `/api/workspaces/acme/search?q=a`)).status, 401);
});

t.test("exact matches come first, kinds take turns, and the newest task comes first", async (t) => {
  const { ada, open } = await openScene(t);
  for (const n of [1, 2, 3, 4, 5]) await open(`Triage number ${n}`);
  const exact = await open("Triage");
  const items = listItems(await search(ada, "triage", "&limit=8"));
  t.match(
    items
      .slice(0, 2)
      .map(({ id, kind }) => [kind, id])
      .sort(),
    [["skill"], ["task", exact]],
  );
  t.ok(new Set(items.map(({ kind }) => kind)).size >= 6, items.map(({ kind }) => kind).join());
  t.equal((await search(ada, "triage", "&limit=8")).body?.truncated, true);
  t.same((await find(ada, "number")).slice(0, 2), ["task: Triage number 5", "task: Triage number 4"]);
  for (const query of [`q=${"x".repeat(201)}`, "q=a&limit=0", "q=a&limit=51", "q=a&page=2"]) {
    t.equal((await ada.request("GET", `/api/workspaces/acme/search?${query}`)).status, 400, query);
  }
});

t.test("what is renamed or deleted is found as it is now", async (t) => {
  const { ada, teamId } = await openScene(t);
  const skill = { key: "old", name: "Carpentry", description: "", files: [{ path: "SKILL.md", content: "Saw." }] };
  const made = await ada.create(`/api/resources/teams/${teamId}/skills`, skill);
  const at = `/api/resources/skills/${made.id}`;
  const renamed = await ada.request("PUT", at, { ...skill, name: "Joinery" }, { "if-match": '"1"' });
  t.equal(renamed.status, 200, renamed.text);
  t.same([await find(ada, "carpentry"), await find(ada, "joinery")], [[], ["skill: Joinery"]]);
  t.equal((await remove(ada, at, 2)).status, 204);
  t.same(await find(ada, "joinery"), []);
});
