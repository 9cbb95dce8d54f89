import t from "tap";
import { join, personAt } from "../../support/people.js";
import { bearer, listItems, toProblem, workspaceWithTeam } from "../../support/resources.js";
import { type Client, startTestService } from "../../support/service.js";

/** Tests `PATCH /api/sessions/me`: people set their name. */

const me = "/api/sessions/me";
const setName = (client: Client, name: unknown) => client.request("PATCH", me, { name });

t.test("a name is shown from then on wherever the person's name is shown, in every workspace", async (t) => {
  const service = await startTestService(t);
  const ada = await personAt(service, "ada@example.com");
  await workspaceWithTeam(ada);
  const bob = await join(service, ada, "bob@example.com", { role: "admin" });
  await bob.create("/api/resources/workspaces", { slug: "bobs", name: "Bob's" });
  const invited = { emails: ["carl@example.com"] };
  await bob.request("POST", "/api/workspaces/acme/invites", invited);
  const names = async () => ({
    own: (await bob.request("GET", me)).body?.name,
    member: listItems(await ada.request("GET", "/api/workspaces/acme/members")).find(
      ({ userId }) => userId === bob.userId,
    )?.name,
    elsewhere: listItems(await bob.request("GET", "/api/workspaces/bobs/members"))[0]?.name,
    inviter: listItems(await ada.request("GET", "/api/workspaces/acme/invites"))[0]?.invitedBy,
  });
  const all = (name: string) => ({ own: name, member: name, elsewhere: name, inviter: { userId: bob.userId, name } });
  t.same(await names(), all("bob"), "at first the start of the mail address");
  const changed = await setName(bob, "  Bob O’Neill ");
  t.equal(changed.status, 200, changed.text);
  t.same(changed.body, (await bob.request("GET", me)).body);
  t.same(await names(), all("Bob O’Neill"));
  await bob.request("POST", "/api/workspaces/acme/invites", { emails: ["dora@example.com"] });
  await service.logged(/invite for dora@example\.com: .*Bob O’Neill/);
  t.equal(
    (await service.signIn("bob@example.com").then((again) => again.request("GET", me))).body?.name,
    "Bob O’Neill",
  );
  t.equal((await ada.request("GET", me)).body?.name, "ada", "and nobody else's name changes");
});

t.test("the same name again changes nothing", async (t) => {
  const service = await startTestService(t);
  const ada = await personAt(service, "ada@example.com");
  const first = await setName(ada, "Ada");
  const [again, trimmed] = [await setName(ada, "Ada"), await setName(ada, "\tAda\n")];
  t.same([again.status, again.body, trimmed.body], [200, first.body, first.body]);
});

t.test("a name has 1 to 100 characters, of which one can be seen and none is a control character", async (t) => {
  const service = await startTestService(t);
  const ada = await personAt(service, "ada@example.com");
  const hidden = [
    "A\u0000da",
    "A\u0007da",
    "A\nda",
    "A\tda",
    "A\u007fda",
    "A\u0085da",
    "A\u2028da",
    "A\u202eda",
    "A\u2066da",
    "A\u061cda",
    "A\u200bda",
    "A\u2060da",
    "A\u00adda",
    "A\u{e0041}da",
  ];
  const refused: readonly (readonly [name: unknown, message: RegExp])[] = [
    ["", /must not be empty/],
    ["  \n ", /must not be empty/],
    ["x".repeat(101), /must be at most 100 characters/],
    ...hidden.map((name) => [name, /must not contain control characters/] as const),
    ["\u200c\u200d", /must contain a visible character/],
    [null, /./],
    [7, /./],
    [undefined, /./],
  ];
  for (const [n, [name, message]] of refused.entries()) {
    const answer = await setName(ada, name);
    t.equal(answer.status, 422, `name ${n}`);
    t.match(toProblem(answer).errors, [{ path: "name", message }], `name ${n}`);
    t.equal(toProblem(answer).errors?.length, 1, `name ${n}`);
  }
  t.match((await ada.request("PATCH", me, { name: "Ada", email: "eve@example.com" })).body, {
    status: 422,
    errors: [{ path: "email" }],
  });
  t.equal((await ada.request("GET", me)).body?.name, "ada");
  for (const name of ["x".repeat(100), ` ${"x".repeat(100)} `, "李", "Zoë 👩‍🚀", "<b>O'Neill</b>", "علی‌رضا"]) {
    const answer = await setName(ada, name);
    t.same([answer.status, answer.body?.name], [200, name.trim()], name);
  }
});

t.test("only a signed-in person sets a name, and only their own", async (t) => {
  const service = await startTestService(t);
  const ada = await personAt(service, "ada@example.com");
  const { workspaceId } = await workspaceWithTeam(ada);
  const token = await bearer(service, ada, { workspaceId, name: "all", scopes: ["configure", "work"] });
  t.match((await setName(token, "Robot")).body, { status: 401, detail: /Your token is valid/ });
  t.equal((await setName(service.anonymous, "Nobody")).status, 401);
  const foreign = { origin: "https://evil.example" };
  t.equal((await ada.request("PATCH", me, { name: "Eve" }, foreign)).status, 403, "nor a page of another origin");
  t.equal((await ada.request("GET", me)).body?.name, "ada");
});
