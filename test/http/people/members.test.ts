import t from "tap";
import { join, type Person, personAt } from "../../support/people.js";
import { bearer, listItems, remove, toProblem, toSlug, workspaceWithTeam } from "../../support/resources.js";
import { startTestService } from "../../support/service.js";
import { StreamReader } from "../../support/stream-reader.js";

const MEMBERS = "/api/workspaces/acme/members";
const NEEDS_AN_OWNER = "The workspace needs at least one owner. Please make someone else an owner first.";

t.test("who opens a workspace owns it, and who makes a team is on it", async (t) => {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  const { teamId } = await workspaceWithTeam(ada);
  const members = await ada.request("GET", MEMBERS);
  t.equal(members.status, 200);
  t.match(members.body, {
    items: [
      {
        userId: /^usr_/,
        name: "ada",
        email: "ada@example.com",
        role: "owner",
        teams: [{ id: teamId, key: "core", name: "Core" }],
        assignableRoles: { length: 0 },
      },
    ],
    next: null,
  });
});

t.test("the only owner keeps the role and stays", async (t) => {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  await workspaceWithTeam(ada);
  const me = `${MEMBERS}/${(await ada.request("GET", "/api/sessions/me")).body?.userId}`;
  const demoted = await ada.request("PATCH", me, { role: "member" });
  t.same([demoted.status, toSlug(demoted), toProblem(demoted).detail], [409, "conflict", NEEDS_AN_OWNER]);
  const left = await ada.request("DELETE", me);
  t.same([left.status, toProblem(left).detail], [409, NEEDS_AN_OWNER]);
  const same = await ada.request("PATCH", me, { role: "owner" });
  t.same([same.status, same.body?.role], [200, "owner"]);
  t.equal((await ada.request("PATCH", me, { role: "boss" })).status, 422);
  t.equal((await ada.request("PATCH", me, {})).status, 422);
});

t.test("a person outside the workspace gets neither a role nor a team", async (t) => {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  const eve = await service.signIn("eve@example.com");
  const { teamId } = await workspaceWithTeam(ada);
  const userId = String((await eve.request("GET", "/api/sessions/me")).body?.userId);
  const role = await ada.request("PATCH", `${MEMBERS}/${userId}`, { role: "admin" });
  t.same([role.status, toProblem(role).detail], [403, "This person is not a member of this workspace."]);
  t.equal((await ada.request("DELETE", `${MEMBERS}/${userId}`)).status, 404);
  const joined = await ada.request("POST", `/api/teams/${teamId}/members`, { userId });
  t.same([joined.status, toProblem(joined).errors?.[0]?.path], [422, "userId"]);
  t.equal((await ada.request("DELETE", `/api/teams/${teamId}/members/${userId}`)).status, 404);
});

t.test("a token with any scopes neither reads nor changes people", async (t) => {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  const { workspaceId, teamId } = await workspaceWithTeam(ada);
  const scopes = ["configure", "secrets", "runners", "trusts"] as const;
  const token = await bearer(service, ada, { workspaceId, name: "all", scopes });
  const userId = String((await ada.request("GET", "/api/sessions/me")).body?.userId);
  t.equal((await token.request("GET", MEMBERS)).status, 404);
  const role = await token.request("PATCH", `${MEMBERS}/${userId}`, { role: "member" });
  t.same([role.status, toProblem(role).detail], [403, "Only an owner or an admin can set roles."]);
  t.equal((await token.request("DELETE", `${MEMBERS}/${userId}`)).status, 404);
  for (const [method, path, body] of [
    ["POST", `/api/teams/${teamId}/members`, { userId }],
    ["DELETE", `/api/teams/${teamId}/members/${userId}`, undefined],
  ] as const) {
    const answer = await token.request(method, path, body);
    t.same([answer.status, toProblem(answer).permission], [403, "administer"], method);
  }
});

t.test("roles are given as in the reference, with its refusals", async (t) => {
  const service = await startTestService(t);
  const ada = await personAt(service, "ada@example.com");
  await workspaceWithTeam(ada);
  const amy = await join(service, ada, "amy@example.com", { role: "admin" });
  const abe = await join(service, ada, "abe@example.com", { role: "admin" });
  const bob = await join(service, ada, "bob@example.com");
  const eve = await personAt(service, "eve@example.com");
  const give = (caller: Person, target: Person, role: string) =>
    caller.request("PATCH", `${MEMBERS}/${target.userId}`, { role });

  for (const [caller, target, role, detail] of [
    [bob, amy, "member", "Only an owner or an admin can set roles."],
    [bob, eve, "member", "Only an owner or an admin can set roles."],
    [amy, eve, "member", "This person is not a member of this workspace."],
    [amy, ada, "member", "You can only set roles for people below you."],
    [amy, abe, "member", "You can only set roles for people below you."],
    [amy, amy, "member", "You cannot change your own role."],
    [amy, bob, "owner", "You cannot give a role above your own."],
  ] as const) {
    const refused = await give(caller, target, role);
    t.same([refused.status, toSlug(refused), toProblem(refused).detail], [403, "forbidden", detail]);
  }
  const last = await give(ada, ada, "admin");
  t.same([last.status, toSlug(last), toProblem(last).detail], [409, "conflict", NEEDS_AN_OWNER]);
  t.equal((await give(eve, bob, "admin")).status, 404, "a stranger sees nothing");

  const same = await give(amy, ada, "owner");
  t.same([same.status, same.body?.role], [200, "owner"], "the role they hold changes nothing");
  const promoted = await give(amy, bob, "admin");
  t.match(promoted.body, { userId: bob.userId, role: "admin", assignableRoles: { length: 0 } });
  t.match((await give(ada, bob, "owner")).body, { role: "owner", assignableRoles: ["admin", "member"] });
  t.match((await give(ada, ada, "member")).body, { role: "member", assignableRoles: { length: 0 } });
  t.equal((await give(ada, amy, "member")).status, 403, "from the very next request");
  t.equal((await give(bob, bob, "member")).status, 409);
});

t.test("of two owners who step down at once, or demote each other, one remains", async (t) => {
  const service = await startTestService(t);
  const ada = await personAt(service, "ada@example.com");
  await workspaceWithTeam(ada);
  const bob = await join(service, ada, "bob@example.com");
  const owners = async (reader: Person) =>
    listItems(await reader.request("GET", MEMBERS)).filter(({ role }) => role === "owner").length;
  for (const targets of [
    [ada, bob],
    [bob, ada],
  ] as const) {
    await ada.request("PATCH", `${MEMBERS}/${bob.userId}`, { role: "owner" });
    await bob.request("PATCH", `${MEMBERS}/${ada.userId}`, { role: "owner" });
    t.equal(await owners(ada), 2);
    const [first, second] = await Promise.all(
      [ada, bob].map((caller, index) =>
        caller.request("PATCH", `${MEMBERS}/${targets[index]?.userId}`, { role: "member" }),
      ),
    );
    t.equal([first, second].filter((answer) => answer?.status === 200).length, 1);
    t.equal(await owners(ada), 1);
  }
});

t.test("a person on a team by others is on it once, and is off it as others or they themselves decide", async (t) => {
  const service = await startTestService(t);
  const ada = await personAt(service, "ada@example.com");
  const { workspaceId, teamId } = await workspaceWithTeam(ada);
  const bob = await join(service, ada, "bob@example.com");
  const team = `/api/teams/${teamId}/members`;
  const refused = await bob.request("POST", team, { userId: bob.userId });
  t.same([refused.status, toProblem(refused).permission], [403, "administer"]);
  t.equal(refused.body?.title, "Not allowed to administer the team");
  for (let count = 0; count < 2; count++) {
    const joined = await ada.request("POST", team, { userId: bob.userId });
    t.same([joined.status, joined.body?.teams], [200, [{ id: teamId, key: "core", name: "Core" }]]);
  }
  t.equal((await bob.request("DELETE", `${team}/${ada.userId}`)).status, 403);
  t.equal((await bob.request("DELETE", `${team}/${bob.userId}`)).status, 204);
  t.equal((await bob.request("DELETE", `${team}/${bob.userId}`)).status, 404);
  await ada.request("POST", team, { userId: bob.userId });
  t.equal((await ada.request("DELETE", `${team}/${bob.userId}`)).status, 204);

  const other = await ada.create(`/api/resources/workspaces/${workspaceId}/teams`, { key: "other", name: "Other" });
  await ada.request("POST", `/api/teams/${other.id}/members`, { userId: bob.userId });
  t.equal((await remove(ada, `/api/resources/teams/${other.id}`, 1)).status, 204);
  t.match(
    listItems(await ada.request("GET", MEMBERS)).map(({ teams }) => teams),
    [[{ key: "core" }], { length: 0 }],
    "a team that is gone has nobody on it",
  );
});

t.test("a removed person is stopped at the next request and at open sockets, and may be invited again", async (t) => {
  const service = await startTestService(t);
  const ada = await personAt(service, "ada@example.com");
  const { workspaceId, teamId } = await workspaceWithTeam(ada);
  const bob = await join(service, ada, "bob@example.com", { teams: [teamId] });
  const reader = await StreamReader.open(bob);
  t.teardown(async () => reader.end());
  const topic = `workspace/${workspaceId}`;
  for (const name of [topic, `team/${teamId}`]) reader.subscribe(name);
  await reader.until((message) => message.kind === "snapshot" && message.topic !== topic);

  const notAllowed = await bob.request("DELETE", `${MEMBERS}/${ada.userId}`);
  t.equal(notAllowed.status, 403);
  t.equal((await ada.request("DELETE", `${MEMBERS}/${bob.userId}`)).status, 204);
  await reader.until((message) => message.kind === "error" && message.topic === topic);
  await ada.create(`/api/resources/workspaces/${workspaceId}/secrets`, { name: "later", value: "v", valueVersion: 1 });
  await ada.create(`/api/resources/teams/${teamId}/skills`, {
    key: "later",
    name: "Later",
    description: "",
    files: [{ path: "SKILL.md", content: "x" }],
  });
  await reader.until((message) => message.kind === "error" && message.topic !== topic);
  t.notMatch(JSON.stringify(reader.messages), /later/);

  for (const path of [MEMBERS, `/api/resources/workspaces/${workspaceId}`, `/api/teams/${teamId}/tasks`]) {
    t.equal((await bob.request("GET", path)).status, 404, path);
  }
  t.same((await bob.request("GET", "/api/sessions/me")).body?.workspaces, []);
  t.equal((await ada.request("DELETE", `${MEMBERS}/${bob.userId}`)).status, 404);
  const again = await join(service, ada, "bob@example.com");
  t.equal((await again.request("GET", MEMBERS)).status, 200);
  t.equal((await again.request("DELETE", `${MEMBERS}/${bob.userId}`)).status, 204, "anyone may leave");
  t.equal((await again.request("GET", MEMBERS)).status, 404);
});

t.test("a demoted person sees the stream as a member does from the next change on", async (t) => {
  const service = await startTestService(t);
  const ada = await personAt(service, "ada@example.com");
  const { workspaceId } = await workspaceWithTeam(ada);
  const amy = await join(service, ada, "amy@example.com", { role: "admin" });
  const reader = await StreamReader.open(amy);
  t.teardown(async () => reader.end());
  reader.subscribe(`workspace/${workspaceId}`);
  await reader.until(({ kind }) => kind === "snapshot");
  const seen = async (name: string) => {
    await ada.create(`/api/resources/workspaces/${workspaceId}/secrets`, { name, value: "v", valueVersion: 1 });
    const { data } = await reader.until((message) => JSON.stringify(message.data).includes(`"${name}"`));
    return (data.change as { readonly by?: unknown }).by !== undefined;
  };
  t.equal(await seen("before"), true, "who changed it is for those who administer");
  await ada.request("PATCH", `${MEMBERS}/${amy.userId}`, { role: "member" });
  t.equal(await seen("after"), false);
  t.match(await reader.until(({ data }) => data.what === "role"), {
    data: { type: "member", userId: amy.userId, role: "member" },
  });
});

t.test("the stream reports joined, changed and removed people in order, and nothing of it to a token", async (t) => {
  const service = await startTestService(t);
  const ada = await personAt(service, "ada@example.com");
  const { workspaceId, teamId } = await workspaceWithTeam(ada);
  const token = await bearer(service, ada, { workspaceId, name: "ci", scopes: ["read"] });
  const [person, machine] = await Promise.all([StreamReader.open(ada), StreamReader.open(token)]);
  for (const reader of [person, machine]) {
    t.teardown(async () => reader.end());
    reader.subscribe(`workspace/${workspaceId}`);
    await reader.until(({ kind }) => kind === "snapshot");
  }
  const bob = await join(service, ada, "bob@example.com");
  await ada.request("POST", `/api/teams/${teamId}/members`, { userId: bob.userId });
  await ada.request("DELETE", `/api/teams/${teamId}/members/${bob.userId}`);
  await ada.request("PATCH", `${MEMBERS}/${bob.userId}`, { role: "admin" });
  await ada.request("DELETE", `${MEMBERS}/${bob.userId}`);
  await ada.create(`/api/resources/workspaces/${workspaceId}/secrets`, { name: "last", value: "v", valueVersion: 1 });
  for (const reader of [person, machine]) await reader.until(({ data }) => data.type === "configuration");
  const told = (reader: StreamReader) => reader.messages.filter(({ data }) => data.type === "member");
  t.same(
    told(person).map(({ data: { what, role, teams } }) => [what, role, teams]),
    [
      ["joined", "member", []],
      ["joined", "member", [teamId]],
      ["left-team", "member", []],
      ["role", "admin", []],
      ["removed", "admin", []],
    ],
  );
  t.same(told(machine), []);
});

t.test("the people of a workspace are listed by page, to its people alone", async (t) => {
  const service = await startTestService(t);
  const ada = await personAt(service, "ada@example.com");
  await workspaceWithTeam(ada);
  for (const name of ["bob", "cyd", "dan"]) await join(service, ada, `${name}@example.com`);
  const seen: unknown[] = [];
  for (let after = ""; ; ) {
    const page = await ada.request("GET", `${MEMBERS}?limit=2${after === "" ? "" : `&after=${after}`}`);
    seen.push(...listItems(page).map(({ email }) => email));
    if (page.body?.next === null) break;
    after = String(page.body?.next);
  }
  t.same(seen, ["ada@example.com", "bob@example.com", "cyd@example.com", "dan@example.com"]);
  for (const query of ["limit=201", "limit=0", "limit=x", "page=2"]) {
    t.equal((await ada.request("GET", `${MEMBERS}?${query}`)).status, 400, query);
  }
  const eve = await personAt(service, "eve@example.com");
  t.equal((await eve.request("GET", MEMBERS)).status, 404);
});

t.test("a closed workspace is visible to nobody, and its slug stays taken", async (t) => {
  const service = await startTestService(t);
  const ada = await personAt(service, "ada@example.com");
  const { workspaceId, teamId } = await workspaceWithTeam(ada);
  const amy = await join(service, ada, "amy@example.com", { role: "admin" });
  const bob = await join(service, ada, "bob@example.com");
  const token = await bearer(service, ada, { workspaceId, name: "ci", scopes: ["read"] });
  const workspace = `/api/resources/workspaces/${workspaceId}`;
  const refused = await remove(bob, workspace, 1);
  t.same([refused.status, toProblem(refused).permission], [403, "administer"]);
  t.equal((await remove(amy, workspace, 1)).status, 204);
  for (const person of [ada, amy, bob]) {
    for (const path of [MEMBERS, workspace, `/api/resources/teams/${teamId}`, `${workspace}/secrets`]) {
      t.equal((await person.request("GET", path)).status, 404, path);
    }
    t.same((await person.request("GET", "/api/sessions/me")).body?.workspaces, []);
    t.equal((await person.request("PATCH", `${MEMBERS}/${bob.userId}`, { role: "admin" })).status, 404);
  }
  t.equal((await token.request("GET", workspace)).status, 401);
  const taken = await ada.request(
    "POST",
    "/api/resources/workspaces",
    { slug: "acme", name: "Acme" },
    { "idempotency-key": "again" },
  );
  t.same([taken.status, toSlug(taken)], [409, "already-exists"]);
});

t.test("a team that a token makes has nobody on it", async (t) => {
  const service = await startTestService(t);
  const ada = await personAt(service, "ada@example.com");
  const { workspaceId } = await workspaceWithTeam(ada);
  const token = await bearer(service, ada, { workspaceId, name: "ci", scopes: ["configure"] });
  await token.create(`/api/resources/workspaces/${workspaceId}/teams`, { key: "bots", name: "Bots" });
  const [own] = listItems(await ada.request("GET", MEMBERS));
  t.match(own?.teams, [{ key: "core" }]);
  t.notMatch(own?.teams, [{}, {}], "and none beside it");
});
