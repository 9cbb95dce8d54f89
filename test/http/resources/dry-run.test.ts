import t from "tap";
import { join } from "../../support/people.js";
import { bearer, workspaceWithTeam } from "../../support/resources.js";
import { type Client, type Reply, startTestService } from "../../support/service.js";

/** A dry run refuses the same writes as the real request, with the same problems. A dry run changes nothing. */

const base = "/api/resources";
const skill = { key: "careful", name: "Careful", files: [{ path: "SKILL.md", content: "# Careful\n" }] };
const station = { key: "work", name: "Work", kind: "work" };
const line = { key: "fix", name: "Fix", stations: [{ ...station, skills: ["careful"] }] };

async function tryChanges(client: Client, workspaceId: string | null, changes: readonly object[]): Promise<Reply> {
  return client.request("POST", `${base}/dry-run`, { workspaceId, changes });
}

/** Returns the refusals of a dry run without their indexes, or the whole reply if it has no refusals. */
async function refusalsOf(client: Client, workspaceId: string | null, changes: readonly object[]) {
  const reply = await tryChanges(client, workspaceId, changes);
  if (reply.status !== 200) return reply;
  const { refusals } = reply.body as { readonly refusals: readonly Readonly<Record<string, unknown>>[] };
  return refusals.map(({ change: _change, ...rest }) => rest);
}

function problemOf({ body }: Reply) {
  const { type, title, detail, errors = [] } = body as Readonly<Record<string, unknown>>;
  const plain = (errors as readonly Record<string, unknown>[]).map(({ path, message }) => ({ path, message }));
  return { type, title, detail, errors: plain };
}

async function openScene(t: Parameters<typeof startTestService>[0]) {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  const { workspaceId, teamId } = await workspaceWithTeam(ada);
  return { service, ada, workspaceId, teamId };
}

t.test("changes that refer to each other are tried in memory, and none is made", async (t) => {
  const { ada, workspaceId, teamId } = await openScene(t);
  const kept = await ada.create(`${base}/teams/${teamId}/skills`, { ...skill, key: "kept" });
  const before = (await ada.request("GET", "/api/workspaces/acme/configuration-changes")).body;
  const changes = [
    { action: "create", kind: "team", id: "new team", body: { key: "new", name: "New" } },
    { action: "create", kind: "skill", id: "new skill", teamId: "new team", body: skill },
    { action: "create", kind: "line", id: "new line", teamId: "new team", body: line },
    { action: "update", kind: "skill", id: kept.id, version: 1, body: { ...skill, key: "kept", name: "Other" } },
    { action: "delete", kind: "skill", id: kept.id, version: 2 },
  ];
  t.same((await tryChanges(ada, workspaceId, changes)).body, { refusals: [] });
  const opened = [{ action: "create", kind: "workspace", id: "ws", body: { slug: "new", name: "New" } }, ...changes];
  t.same((await tryChanges(ada, null, opened.slice(0, 4))).body, { refusals: [] });
  t.same((await ada.request("GET", "/api/workspaces/acme/configuration-changes")).body, before);
  t.match(await ada.request("GET", `${base}/skills/${kept.id}`), {
    status: 200,
    body: { version: 1, name: "Careful" },
  });
  t.equal((await ada.request("GET", "/api/workspaces/new/members")).status, 404);
});

t.test("a refusal has the problem that the write itself gets", async (t) => {
  const { service, ada, workspaceId, teamId } = await openScene(t);
  const made = await ada.create(`${base}/teams/${teamId}/skills`, skill);
  await ada.create(`${base}/teams/${teamId}/lines`, line);
  const elsewhere = await ada.create(`${base}/workspaces`, { slug: "elsewhere", name: "Elsewhere" });
  const token = "token-of-a-pool-of-another-workspace";
  await ada.create(`${base}/workspaces/${elsewhere.id}/runner-pools`, { key: "linux", token });
  const robot = await bearer(service, ada, { workspaceId, name: "robot", scopes: ["read"] });
  const bob = await join(service, ada, "bob@example.com", { role: "member" });
  let key = 0;
  const create = async (client: Client, kind: string, path: string, body: object) => {
    key += 1;
    const wanted = path.startsWith("/teams/") ? { teamId } : {};
    const of = kind === "workspace" ? null : workspaceId;
    const tried = await refusalsOf(client, of, [{ action: "create", kind, id: "it", ...wanted, body }]);
    const reply = await client.request("POST", `${base}${path}`, body, { "idempotency-key": `try-${key}` });
    t.same(tried, [problemOf(reply)], `${kind} ${reply.status}`);
    t.ok(reply.status >= 400);
  };
  const skills = `/teams/${teamId}/skills`;
  await create(ada, "skill", skills, { ...skill, key: "Not a key", files: [], color: 1 });
  await create(ada, "skill", skills, { ...skill, key: "other", files: [{ path: "other.md", content: "x" }] });
  await create(ada, "skill", skills, skill);
  await create(ada, "line", `/teams/${teamId}/lines`, { ...line, stations: [{ ...station, skills: ["none"] }] });
  await create(ada, "runner-pool", `/workspaces/${workspaceId}/runner-pools`, { key: "mac", token });
  await create(robot, "skill", skills, { ...skill, key: "other" });
  await create(bob, "skill", skills, { ...skill, key: "other" });
  await create(ada, "workspace", "/workspaces", { slug: "elsewhere", name: "Mine" });
  await create(robot, "workspace", "/workspaces", { slug: "third", name: "Third" });

  const one = `${base}/skills/${made.id}`;
  const update = { action: "update", kind: "skill", id: made.id };
  for (const [version, body] of [
    [7, skill],
    [1, { ...skill, key: "renamed" }],
    [1, { ...skill, files: 5 }],
  ] as const) {
    const reply = await ada.request("PUT", one, body, { "if-match": `"${version}"` });
    t.same(await refusalsOf(ada, workspaceId, [{ ...update, version, body }]), [problemOf(reply)]);
  }
  for (const version of [1, 7]) {
    const reply = await ada.request("DELETE", one, undefined, { "if-match": `"${version}"` });
    const tried = await refusalsOf(ada, workspaceId, [{ action: "delete", kind: "skill", id: made.id, version }]);
    t.same(tried, [problemOf(reply)], `delete of version ${version}`);
  }
});

t.test("a change waits for later ones that end its use, and a refused team hides its resources", async (t) => {
  const { ada, workspaceId, teamId } = await openScene(t);
  const made = await ada.create(`${base}/teams/${teamId}/skills`, skill);
  const user = await ada.create(`${base}/teams/${teamId}/lines`, line);
  const removal = (kind: string, id: string) => ({ action: "delete", kind, id, version: 1 });
  t.same(await refusalsOf(ada, workspaceId, [removal("skill", made.id), removal("line", user.id)]), []);
  t.match(await refusalsOf(ada, workspaceId, [removal("skill", made.id)]), [{ type: "urn:service:problem:in-use" }]);
  const team = { action: "create", kind: "team", id: "t", body: { key: "Wrong", name: "New" } };
  const within = { action: "create", kind: "skill", id: "s", teamId: "t", body: skill };
  t.match((await tryChanges(ada, workspaceId, [within, team])).body?.refusals, [{ change: 0 }, { change: 1 }]);
  t.match((await tryChanges(ada, workspaceId, [team, within])).body, {
    refusals: [{ change: 0, errors: [{ path: "key" }] }],
  });
});

t.test("a dry run shows nothing of a workspace that its caller cannot see, and refuses odd requests", async (t) => {
  const { service, ada, workspaceId, teamId } = await openScene(t);
  const eve = await service.signIn("eve@example.com");
  t.equal((await tryChanges(eve, workspaceId, [])).status, 404);
  const stranger = await ada.create(`${base}/workspaces`, { slug: "other", name: "Other" });
  const made = await ada.create(`${base}/teams/${teamId}/skills`, skill);
  const removal = { action: "delete", kind: "skill", id: made.id, version: 1 };
  t.match(await refusalsOf(ada, stranger.id, [removal]), [{ type: "urn:service:problem:not-found" }]);
  t.match(await refusalsOf(eve, null, [removal]), [{ type: "urn:service:problem:not-found" }]);
  t.match(await tryChanges(ada, workspaceId, [{ ...removal, kind: "replay-candidate" }]), {
    status: 422,
    body: { errors: [{ path: "changes[0].kind" }] },
  });
  t.match(await tryChanges(ada, workspaceId, [{ action: "rename" }]), { status: 422 });
});

t.test("a new workspace within another one gives its creator no rights there", async (t) => {
  const { service, ada, workspaceId, teamId } = await openScene(t);
  const made = await ada.create(`${base}/teams/${teamId}/skills`, skill);
  const bob = await join(service, ada, "bob@example.com", { role: "member" });
  const opening = { action: "create", kind: "workspace", id: "w", body: { slug: "mine", name: "Mine" } };
  const second = { ...opening, id: "w2", body: { slug: "yours", name: "Yours" } };
  const rename = { action: "update", kind: "skill", id: made.id, version: 1, body: { ...skill, name: "Other" } };
  const close = { action: "delete", kind: "workspace", id: workspaceId, version: 1 };
  const tried = await refusalsOf(bob, workspaceId, [opening, rename, close]);
  t.match(
    tried,
    ["conflict", "forbidden", "forbidden"].map((slug) => ({ type: `urn:service:problem:${slug}` })),
  );
  t.equal((tried as readonly unknown[]).length, 3);
  t.match(await refusalsOf(ada, workspaceId, [opening]), [{ type: "urn:service:problem:conflict" }]);
  t.match((await tryChanges(ada, null, [opening, second])).body?.refusals, [{ change: 1 }]);
});

t.test("a caller without the permission learns that first, not what is wrong with the body", async (t) => {
  const { service, ada, workspaceId, teamId } = await openScene(t);
  const made = await ada.create(`${base}/teams/${teamId}/skills`, skill);
  const bob = await join(service, ada, "bob@example.com", { role: "member" });
  const body = { color: 1 };
  const real = await bob.request("PUT", `${base}/skills/${made.id}`, body, { "if-match": '"1"' });
  const update = { action: "update", kind: "skill", id: made.id, version: 1, body };
  t.same(await refusalsOf(bob, workspaceId, [update]), [problemOf(real)]);
  const create = { action: "create", kind: "skill", id: "it", teamId, body };
  t.same(await refusalsOf(bob, workspaceId, [create]), [problemOf(real)]);
});

t.test("creates with the same name are tried each, and too many changes are refused", async (t) => {
  const { ada, workspaceId } = await openScene(t);
  const team = { action: "create", kind: "team", id: "t", body: { key: "new", name: "New" } };
  const within = { action: "create", kind: "skill", id: "t", teamId: "t", body: skill };
  t.same(await refusalsOf(ada, workspaceId, [team, within]), []);
  t.match((await tryChanges(ada, workspaceId, [team, team])).body, {
    refusals: [{ change: 1, type: "urn:service:problem:already-exists" }],
  });
  const many = Array.from({ length: 1_001 }, () => ({ action: "delete", kind: "team", id: "t", version: 1 }));
  t.match(await tryChanges(ada, workspaceId, many), { status: 422, body: { errors: [{ path: "changes" }] } });
  t.equal((await tryChanges(ada, workspaceId, many.slice(1))).status, 200);
});
