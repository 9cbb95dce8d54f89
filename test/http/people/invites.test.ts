import t, { type Test } from "tap";
import { ManualClock } from "../../support/manual-clock.js";
import { join, loggedInvite, type Person, personAt } from "../../support/people.js";
import { bearer, listItems, remove, toProblem, toSlug, workspaceWithTeam } from "../../support/resources.js";
import { startTestService, type TestService, type TestServiceOptions } from "../../support/service.js";

const INVITES = "/api/workspaces/acme/invites";
const DAY_MS = 24 * 60 * 60 * 1_000;

interface Office {
  readonly service: TestService;
  readonly ada: Person;
  readonly workspaceId: string;
  readonly teamId: string;
}

/** Opens a workspace whose owner is Ada. */
async function openOffice(t: Test, options: TestServiceOptions = {}): Promise<Office> {
  const service = await startTestService(t, options);
  const ada = await personAt(service, "ada@example.com");
  return { service, ada, ...(await workspaceWithTeam(ada)) };
}

t.test("a person is invited, sees what is offered, accepts, and works in the workspace", async (t) => {
  const { service, ada, workspaceId, teamId } = await openOffice(t);
  const invited = await ada.request("POST", INVITES, { emails: ["Bob@Example.com"], role: "admin", teams: [teamId] });
  t.equal(invited.status, 200, invited.text);
  const [outcome] = listItems(invited);
  t.match(outcome, { email: "bob@example.com", outcome: "invited", inviteId: /^inv_[0-9A-Z]{26}$/ });
  const token = loggedInvite(service, "bob@example.com");
  t.notMatch(invited.text, token, "the link is in the mail alone");

  const offer = await service.anonymous.request("GET", `/api/invites/${token}`);
  t.match(offer.body, {
    workspace: { slug: "acme", name: "Acme" },
    invitedBy: "ada",
    email: "bob@example.com",
    role: "admin",
    teams: ["Core"],
    state: "open",
  });
  const bob = await personAt(service, "bob@example.com");
  t.equal((await bob.request("GET", "/api/workspaces/acme/members")).status, 404);
  const accepted = await bob.request("POST", `/api/invites/${token}/accept`, {});
  t.same(
    [accepted.status, accepted.body],
    [
      200,
      {
        workspace: { id: workspaceId, slug: "acme", name: "Acme" },
        role: "admin",
        teams: [{ id: teamId, key: "core", name: "Core" }],
      },
    ],
  );
  const members = await bob.request("GET", "/api/workspaces/acme/members");
  t.match(listItems(members), [
    { email: "ada@example.com", role: "owner", assignableRoles: { length: 0 } },
    { email: "bob@example.com", role: "admin", assignableRoles: { length: 0 } },
  ]);
  t.match((await bob.request("GET", "/api/sessions/me")).body?.workspaces, [{ slug: "acme", role: "admin" }]);
  t.match((await service.anonymous.request("GET", `/api/invites/${token}`)).body, { state: "accepted" });
  const again = await bob.request("POST", `/api/invites/${token}/accept`, {});
  t.same([again.status, toSlug(again)], [409, "conflict"]);
});

t.test("each address has one outcome, even if it is repeated in other spellings", async (t) => {
  const { service, ada } = await openOffice(t);
  const first = await ada.request("POST", INVITES, { emails: ["Bob@x.example", "bob@X.example", "ada@Example.com"] });
  t.match(listItems(first), [
    { email: "bob@x.example", outcome: "invited" },
    { email: "ada@example.com", outcome: "already-a-member", inviteId: null },
  ]);
  t.equal(listItems(first).length, 2);
  t.notOk(
    service.logLines.some((line) => line.includes("invite for ada")),
    "a member is sent nothing",
  );
  const old = loggedInvite(service, "bob@x.example");
  const second = await ada.request("POST", INVITES, { emails: ["BOB@x.example"], role: "admin" });
  t.match(listItems(second), [{ outcome: "sent-again", inviteId: listItems(first)[0]?.inviteId }]);
  t.match(listItems(await ada.request("GET", INVITES)), [{ email: "bob@x.example", role: "admin" }]);
  t.equal((await service.anonymous.request("GET", `/api/invites/${old}`)).status, 404, "the old link stops working");
});

t.test("fifty addresses are invited at once, and invalid ones are refused at their paths", async (t) => {
  const { ada, service } = await openOffice(t, { settings: { SIGN_IN_DOMAINS: "example.com" } });
  const emails = Array.from({ length: 50 }, (_, index) => `p${index}@example.com`);
  const invited = await ada.request("POST", INVITES, { emails });
  t.equal(listItems(invited).filter(({ outcome }) => outcome === "invited").length, 50);
  t.equal(listItems(await ada.request("GET", `${INVITES}?limit=200`)).length, 50);
  for (const [body, path] of [
    [{ emails: [] }, "emails"],
    [{ emails: [...emails, "one@more.example"] }, "emails"],
    [{ emails: ["ok@example.com", "no address"] }, "emails[1]"],
    [{ emails: ["ok@example.com", "eve@elsewhere.example"] }, "emails[1]"],
    [{ emails: ["ok@example.com\r\nBcc: eve@example.com"] }, "emails[0]"],
    [{ emails: ["ok@example.com"], role: "owner" }, "role"],
    [{ emails: ["ok@example.com"], teams: ["team_none"] }, "teams[0]"],
    [{ emails: ["ok@example.com"], more: 1 }, "more"],
    [{}, "emails"],
  ] as const) {
    const refused = await ada.request("POST", INVITES, body);
    t.same([refused.status, toProblem(refused).errors?.[0]?.path], [422, path], refused.text);
  }
  t.notOk(service.logLines.some((line) => line.includes("ok@example.com")));
});

t.test("the pending list shows open invites alone, newest first, by page", async (t) => {
  const clock = new ManualClock();
  const { service, ada } = await openOffice(t, { clock });
  for (const name of ["old", "bob", "cyd", "dan"]) {
    await ada.request("POST", INVITES, { emails: [`${name}@example.com`] });
    clock.advance(DAY_MS);
  }
  const list = async (query = "") => listItems(await ada.request("GET", `${INVITES}${query}`));
  t.same(
    (await list()).map(({ email, mail }) => [email, mail]),
    ["dan", "cyd", "bob", "old"].map((name) => [`${name}@example.com`, "sent"]),
  );
  const [first] = await list("?limit=1");
  t.equal((await list(`?limit=1&before=${first?.id}`))[0]?.email, "cyd@example.com");
  t.equal((await ada.request("GET", `${INVITES}?limit=0`)).status, 400);
  const bob = (await list()).find(({ email }) => email === "bob@example.com");
  await ada.request("DELETE", `${INVITES}/${bob?.id}`);
  const cyd = await personAt(service, "cyd@example.com");
  await cyd.request("POST", `/api/invites/${loggedInvite(service, "cyd@example.com")}/accept`, {});
  clock.advance(10 * DAY_MS);
  t.same(
    (await list()).map(({ email }) => email),
    ["dan@example.com"],
    "revoked, accepted and expired ones are gone",
  );
});

t.test("one person sends a thousand invites an hour, and not more", async (t) => {
  const clock = new ManualClock();
  const { service, ada } = await openOffice(t, { clock });
  const emails = Array.from({ length: 50 }, (_, index) => `p${index}@example.com`);
  for (let count = 0; count < 20; count++) {
    t.equal((await ada.request("POST", INVITES, { emails })).status, 200);
    clock.advance(60_000);
  }
  const logged = service.logLines.length;
  const refused = await ada.request("POST", INVITES, { emails: ["bob@example.com"] });
  t.same([refused.status, toSlug(refused), refused.headers["retry-after"]], [429, "too-many-requests", "2400"]);
  t.notOk(service.logLines.slice(logged).some((line) => line.includes("invite for")));
  clock.advance(40 * 60_000);
  t.equal((await ada.request("POST", INVITES, { emails: ["bob@example.com"] })).status, 200);
});

t.test("an invite admits for 14 days from when it was last sent", async (t) => {
  const clock = new ManualClock();
  const { service, ada } = await openOffice(t, { clock });
  const [outcome] = listItems(await ada.request("POST", INVITES, { emails: ["bob@example.com"] }));
  clock.advance(14 * DAY_MS);
  const bob = await personAt(service, "bob@example.com");
  const over = loggedInvite(service, "bob@example.com");
  t.match((await service.anonymous.request("GET", `/api/invites/${over}`)).body, { state: "expired" });
  const late = await bob.request("POST", `/api/invites/${over}/accept`, {});
  t.same([late.status, toSlug(late)], [409, "conflict"]);
  t.same(listItems(await ada.request("GET", INVITES)), []);

  const again = await ada.request("POST", `${INVITES}/${outcome?.inviteId}/resend`);
  t.same([again.status, again.body], [200, { ...outcome, outcome: "sent-again" }]);
  clock.advance(14 * DAY_MS - 1);
  t.equal((await bob.request("POST", `/api/invites/${over}/accept`, {})).status, 404, "the old link");
  const fresh = loggedInvite(service, "bob@example.com");
  t.equal((await bob.request("POST", `/api/invites/${fresh}/accept`, {})).status, 200);
});

t.test("a revoked link is not found; revoking again changes nothing; an ended invite stays ended", async (t) => {
  const { service, ada } = await openOffice(t);
  const [outcome] = listItems(await ada.request("POST", INVITES, { emails: ["bob@example.com"] }));
  const token = loggedInvite(service, "bob@example.com");
  const one = `${INVITES}/${outcome?.inviteId}`;
  const bob = await personAt(service, "bob@example.com");
  t.equal((await ada.request("DELETE", one)).status, 204);
  t.equal((await bob.request("POST", `/api/invites/${token}/accept`, {})).status, 404);
  t.equal((await service.anonymous.request("GET", `/api/invites/${token}`)).status, 404);
  t.equal((await ada.request("DELETE", one)).status, 204);
  const resent = await ada.request("POST", `${one}/resend`);
  t.same([resent.status, toSlug(resent)], [409, "conflict"]);
  t.match(toProblem(resent).detail, /only an open or expired invite can be sent again/);

  const [anew] = listItems(await ada.request("POST", INVITES, { emails: ["bob@example.com"] }));
  t.equal(anew?.outcome, "invited");
  t.not(anew?.inviteId, outcome?.inviteId, "a new invite");
  await bob.request("POST", `/api/invites/${loggedInvite(service, "bob@example.com")}/accept`, {});
  const revoked = await ada.request("DELETE", `${INVITES}/${anew?.inviteId}`);
  t.same([revoked.status, toProblem(revoked).detail], [409, "An accepted invite cannot be revoked."]);
  t.equal((await ada.request("POST", `${INVITES}/${anew?.inviteId}/resend`)).status, 409);
  t.equal((await ada.request("DELETE", `${INVITES}/inv_none`)).status, 404);
});

t.test("an invite is for the address it was sent to, and for nobody before they have signed in", async (t) => {
  const { service, ada } = await openOffice(t);
  await ada.request("POST", INVITES, { emails: ["bob@example.com"] });
  const accept = `/api/invites/${loggedInvite(service, "bob@example.com")}/accept`;
  t.equal((await service.anonymous.request("POST", accept, {})).status, 401);
  const eve = await personAt(service, "eve@example.com");
  const refused = await eve.request("POST", accept, {});
  t.same([refused.status, toSlug(refused)], [403, "forbidden"]);
  t.equal((await eve.request("GET", "/api/workspaces/acme/members")).status, 404);
  const bob = await personAt(service, "BOB@example.com");
  t.equal((await bob.request("POST", accept, {})).status, 200);
});

t.test("accepted at once many times, an invite lets its person in once", async (t) => {
  const { service, ada } = await openOffice(t);
  await ada.request("POST", INVITES, { emails: ["bob@example.com"] });
  const accept = `/api/invites/${loggedInvite(service, "bob@example.com")}/accept`;
  const bob = await personAt(service, "bob@example.com");
  const answers = await Promise.all([1, 2, 3, 4].map(() => bob.request("POST", accept, {})));
  t.same(answers.map(({ status }) => status).sort(), [200, 409, 409, 409]);
});

t.test("invited at once by two, an address has one invite, and the last link works", async (t) => {
  const { service, ada } = await openOffice(t);
  const answers = await Promise.all([1, 2, 3].map(() => ada.request("POST", INVITES, { emails: ["bob@example.com"] })));
  const ids = new Set(answers.map((answer) => listItems(answer)[0]?.inviteId));
  t.equal(ids.size, 1);
  t.equal(listItems(await ada.request("GET", INVITES)).length, 1);
  const links = service.logLines.flatMap((line) => /invite for bob.*\/invites\/([\w-]{43})/.exec(line)?.[1] ?? []);
  const found = await Promise.all(links.map((link) => service.anonymous.request("GET", `/api/invites/${link}`)));
  t.equal(found.filter(({ status }) => status === 200).length, 1);
});

t.test("teams that are gone meanwhile are left out", async (t) => {
  const { service, ada, workspaceId, teamId } = await openOffice(t);
  const gone = await ada.create(`/api/resources/workspaces/${workspaceId}/teams`, { key: "gone", name: "Gone" });
  await ada.request("POST", INVITES, { emails: ["bob@example.com"], teams: [gone.id, teamId] });
  t.equal((await remove(ada, `/api/resources/teams/${gone.id}`, 1)).status, 204);
  const token = loggedInvite(service, "bob@example.com");
  t.same((await service.anonymous.request("GET", `/api/invites/${token}`)).body?.teams, ["Core"]);
  const bob = await personAt(service, "bob@example.com");
  const accepted = await bob.request("POST", `/api/invites/${token}/accept`, {});
  t.match(accepted.body?.teams, [{ key: "core" }]);
});

t.test(
  "members and strangers find no invites, a token is nobody, and a demoted admin is stopped at once",
  async (t) => {
    const { service, ada, workspaceId } = await openOffice(t);
    const [outcome] = listItems(await ada.request("POST", INVITES, { emails: ["cyd@example.com"] }));
    const bob = await join(service, ada, "bob@example.com", { role: "admin" });
    const eve = await personAt(service, "eve@example.com");
    const scopes = ["configure", "secrets", "runners", "trusts"] as const;
    const token = await bearer(service, ada, { workspaceId, name: "all", scopes });
    const actions = [
      ["POST", INVITES, { emails: ["dan@example.com"] }],
      ["GET", INVITES, undefined],
      ["POST", `${INVITES}/${outcome?.inviteId}/resend`, {}],
      ["DELETE", `${INVITES}/${outcome?.inviteId}`, undefined],
    ] as const;
    for (const [method, path, body] of actions) {
      t.equal((await eve.request(method, path, body)).status, 404, `${method} by a stranger`);
      t.equal((await token.request(method, path, body)).status, 401, `${method} by a token`);
      t.equal((await service.anonymous.request(method, path, body)).status, 401, `${method} by nobody`);
    }
    t.equal((await bob.request("GET", INVITES)).status, 200);
    await ada.request("PATCH", `/api/workspaces/acme/members/${bob.userId}`, { role: "member" });
    for (const [method, path, body] of actions) t.equal((await bob.request(method, path, body)).status, 404, method);
    const link = loggedInvite(service, "cyd@example.com");
    t.equal((await token.request("POST", `/api/invites/${link}/accept`, {})).status, 401);
  },
);

t.test("an invite to a workspace that was closed leads nowhere", async (t) => {
  const { service, ada, workspaceId } = await openOffice(t);
  await ada.request("POST", INVITES, { emails: ["bob@example.com"] });
  const token = loggedInvite(service, "bob@example.com");
  const bob = await personAt(service, "bob@example.com");
  t.equal((await remove(ada, `/api/resources/workspaces/${workspaceId}`, 1)).status, 204);
  t.equal((await service.anonymous.request("GET", `/api/invites/${token}`)).status, 404);
  t.equal((await bob.request("POST", `/api/invites/${token}/accept`, {})).status, 404);
  t.equal((await ada.request("GET", INVITES)).status, 404);
});

t.test("people and invites stand in no change log, and links nowhere on the disk or in an answer", async (t) => {
  const { service, ada } = await openOffice(t);
  const before = (await ada.request("GET", "/api/workspaces/acme/configuration-changes")).body;
  await join(service, ada, "bob@example.com");
  t.same((await ada.request("GET", "/api/workspaces/acme/configuration-changes")).body, before);
  const token = loggedInvite(service, "bob@example.com");
  const stored = JSON.stringify(service.runtime.reading.range({ prefix: [] }));
  t.ok(stored.includes("bob@example.com"));
  t.notOk(stored.includes(token));
});

t.test("the page behind a link shows nothing of it by itself, and loads nothing from elsewhere", async (t) => {
  const { service, ada } = await openOffice(t);
  await ada.request("POST", INVITES, { emails: ["bob@example.com"] });
  const token = loggedInvite(service, "bob@example.com");
  const page = await service.anonymous.request("GET", `/invites/${token}`);
  t.equal(page.status, 200);
  t.match(page.headers["content-security-policy"], /^default-src 'none'; connect-src 'self'; script-src 'sha256-/);
  t.notMatch(page.headers["content-security-policy"], /unsafe/);
  t.notMatch(page.text, new RegExp(`https?://|${token}|bob@`));
  t.match((await service.anonymous.request("GET", `/api/invites/${token}`)).body, { state: "open" });
});
