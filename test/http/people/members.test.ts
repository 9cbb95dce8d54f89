import t from "tap";
import { bearer, problemOf, slugOf, workspaceWithTeam } from "../../support/resources.js";
import { startTestService } from "../../support/service.js";

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
        assignableRoles: [],
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
  t.same([demoted.status, slugOf(demoted), problemOf(demoted).detail], [409, "conflict", NEEDS_AN_OWNER]);
  const left = await ada.request("DELETE", me);
  t.same([left.status, problemOf(left).detail], [409, NEEDS_AN_OWNER]);
  const same = await ada.request("PATCH", me, { role: "owner" });
  t.same([same.status, same.body?.role], [200, "owner"]);
  t.equal((await ada.request("PATCH", me, { role: "boss" })).status, 422);
  t.equal((await ada.request("PATCH", me, {})).status, 422);
});

t.test("who is not in the workspace is no member, for a role as for a team", async (t) => {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  const eve = await service.signIn("eve@example.com");
  const { teamId } = await workspaceWithTeam(ada);
  const userId = String((await eve.request("GET", "/api/sessions/me")).body?.userId);
  const role = await ada.request("PATCH", `${MEMBERS}/${userId}`, { role: "admin" });
  t.same([role.status, problemOf(role).detail], [403, "This person is not a member of this workspace."]);
  t.equal((await ada.request("DELETE", `${MEMBERS}/${userId}`)).status, 404);
  const joined = await ada.request("POST", `/api/teams/${teamId}/members`, { userId });
  t.same([joined.status, problemOf(joined).errors?.[0]?.path], [422, "userId"]);
  t.equal((await ada.request("DELETE", `/api/teams/${teamId}/members/${userId}`)).status, 404);
});

t.test("a token reads no people and changes none, whatever its scopes", async (t) => {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  const { workspaceId, teamId } = await workspaceWithTeam(ada);
  const scopes = ["configure", "secrets", "runners", "trusts"] as const;
  const token = await bearer(service, ada, { workspaceId, name: "all", scopes });
  const userId = String((await ada.request("GET", "/api/sessions/me")).body?.userId);
  t.equal((await token.request("GET", MEMBERS)).status, 404);
  const role = await token.request("PATCH", `${MEMBERS}/${userId}`, { role: "member" });
  t.same([role.status, problemOf(role).detail], [403, "Only an owner or an admin can set roles."]);
  t.equal((await token.request("DELETE", `${MEMBERS}/${userId}`)).status, 404);
  for (const [method, path, body] of [
    ["POST", `/api/teams/${teamId}/members`, { userId }],
    ["DELETE", `/api/teams/${teamId}/members/${userId}`, undefined],
  ] as const) {
    const answer = await token.request(method, path, body);
    t.same([answer.status, problemOf(answer).permission], [403, "administer"], method);
  }
});
