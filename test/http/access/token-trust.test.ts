import t from "tap";
import { join } from "../../support/people.js";
import { bearer, createUnder, remove, replace, toProblem, workspaceWithTeam } from "../../support/resources.js";
import { startTestService } from "../../support/service.js";

const body = { key: "ci", issuer: "https://ci.example.com", subject: "acme/app", scopes: ["read"] };

t.test("a trust is read with its defaults and who defined it", async (t) => {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  const { workspaceId } = await workspaceWithTeam(ada);
  const trust = await ada.create(`/api/resources/workspaces/${workspaceId}/token-trusts`, body);
  const me = await ada.request("GET", "/api/sessions/me");
  t.match(trust.id, /^trust_[0-9A-Z]{26}$/);
  t.same(trust, {
    id: trust.id,
    version: 1,
    address: "ci",
    workspaceId,
    ...body,
    audience: "service",
    claims: {},
    lifetimeMinutes: 15,
    definedBy: me.body?.userId,
    warnings: [],
  });
});

t.test("every term of a trust is held to its rules, at its path", async (t) => {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  const { workspaceId } = await workspaceWithTeam(ada);
  const trusts = `/api/resources/workspaces/${workspaceId}/token-trusts`;
  const claims = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, "x"]));
  const long = "x".repeat(256);
  const refused: readonly [terms: Record<string, unknown>, path: string, message: RegExp][] = [
    ...[
      "ftp://a.example",
      "a.example",
      "https://",
      "https:///a.example",
      "https://a b",
      "https:\\\\a",
      " https://a.example",
      "HTTPS://a.x",
      "",
    ].map((issuer): [Record<string, unknown>, string, RegExp] => [{ issuer }, "issuer", /must be an https address/]),
    [{ issuer: "http://ci.example.com" }, "issuer", /must be https, unless/],
    [{ issuer: "http://2130706433" }, "issuer", /must be https, unless/],
    [{ issuer: "http://localhost.evil.example" }, "issuer", /must be https, unless/],
    [{ issuer: "http://127.0.0.2" }, "issuer", /must be https, unless/],
    [{ issuer: "https://ci.example.com?x=1" }, "issuer", /no query/],
    [{ issuer: "https://ci.example.com?" }, "issuer", /no query/],
    [{ issuer: "https://ci.example.com/#x" }, "issuer", /no fragment/],
    [{ issuer: "https://ada:pw@ci.example.com" }, "issuer", /not contain credentials/],
    [{ issuer: "https://@ci.example.com" }, "issuer", /not contain credentials/],
    [{ issuer: "http://localhost@evil.example" }, "issuer", /not contain credentials/],
    [{ issuer: `https://${long}` }, "issuer", /at most 255/],
    [{ issuer: undefined }, "issuer", /is required/],
    [{ audience: "two words" }, "audience", /one word/],
    [{ audience: "" }, "audience", /empty/],
    [{ audience: long }, "audience", /at most 255/],
    [{ subject: "repo:*" }, "subject", /must name an owner before any \*/],
    [{ subject: "*" }, "subject", /must name an owner before any \*/],
    [{ subject: "acme/app main" }, "subject", /one word/],
    [{ subject: "acme/app\n" }, "subject", /one word/],
    [{ subject: long }, "subject", /at most 255/],
    [{ subject: undefined }, "subject", /is required/],
    ...["iss", "sub", "aud", "exp", "nbf", "iat", "jti"].map((name): [Record<string, unknown>, string, RegExp] => [
      { claims: claims([name]) },
      `claims.${name}`,
      /is reserved/,
    ]),
    [{ claims: claims(["odd key"]) }, 'claims["odd key"]', /lowercase letters, digits and _/],
    [{ claims: claims(["Actor"]) }, "claims.Actor", /lowercase letters, digits and _/],
    [{ claims: claims(["_actor"]) }, "claims._actor", /starting with a letter/],
    [{ claims: claims(["x".repeat(65)]) }, `claims.${"x".repeat(65)}`, /at most 64/],
    [{ claims: claims(Array.from({ length: 17 }, (_, index) => `c${index}`)) }, "claims", /at most 16 claims/],
    [{ claims: { actor: "two words" } }, "claims.actor", /one word/],
    [{ claims: { actor: long } }, "claims.actor", /at most 255/],
    [{ claims: { actor: 7 } }, "claims.actor", /must be text/],
    [{ claims: [] }, "claims", /must be an object/],
    [
      { scopes: ["secrets"] },
      "scopes",
      /^must include read, plan or configure; secrets, runners and trusts need one of them$/,
    ],
    [{ scopes: ["read", "read"] }, "scopes", /^must name each scope once$/],
    [{ scopes: ["all"] }, "scopes[0]", /must be a scope/],
    [{ scopes: [] }, "scopes", /^must include read, plan or configure;/],
    [{ lifetimeMinutes: 0 }, "lifetimeMinutes", /1 to 60/],
    [{ lifetimeMinutes: 61 }, "lifetimeMinutes", /1 to 60/],
    [{ lifetimeMinutes: 1.5 }, "lifetimeMinutes", /whole number/],
    [{ key: "Not a key" }, "key", /lowercase words/],
    [{ definedBy: "usr_me" }, "definedBy", /not a field/],
  ];
  for (const [index, [terms, path, message]] of refused.entries()) {
    const answer = await createUnder(ada, trusts, { ...body, ...terms }, `refused-${index}`);
    const label = JSON.stringify(terms).slice(0, 80);
    t.equal(answer.status, 422, label);
    t.match(toProblem(answer).errors?.find((error) => error.path === path)?.message ?? "", message, label);
  }
  const taken: readonly Record<string, unknown>[] = [
    { issuer: "http://localhost:9000" },
    { issuer: "http://127.0.0.1:9000/realms/a" },
    { issuer: "http://[::1]:9000" },
    { issuer: "https://ci.example.com:8443/realms/a/" },
    { subject: "repo:acme/app:ref:refs/heads/main" },
    { subject: "repo:acme/app:*" },
    { subject: "repo:acme/*" },
    { subject: "repo:acme@123/app@456:ref:refs/heads/main" },
    { subject: "x".repeat(255), audience: "x".repeat(255) },
    { claims: { actor: "*", environment: "production", job_workflow_ref: "acme/app/.ci/*@refs/heads/main" } },
    { scopes: ["configure", "secrets", "runners", "trusts"], lifetimeMinutes: 60 },
  ];
  for (const [index, terms] of taken.entries()) {
    const answer = await createUnder(ada, trusts, { ...body, ...terms, key: `taken-${index}` }, `taken-${index}`);
    t.equal(answer.status, 201, answer.text);
  }
});

t.test("a trust says what of it cannot be honoured as written", async (t) => {
  const service = await startTestService(t, { settings: { OUTBOUND_ALLOW: "http://localhost:9000" } });
  const ada = await service.signIn("ada@example.com");
  const { workspaceId } = await workspaceWithTeam(ada);
  let made = 0;
  const warned = async (terms: Record<string, unknown>) => {
    made += 1;
    const trusts = `/api/resources/workspaces/${workspaceId}/token-trusts`;
    return (await ada.create(trusts, { ...body, ...terms, key: `trust-${made}` })).warnings;
  };
  t.match(await warned({ subject: "repo:acme/app:*" }), [
    { path: "subject", message: /sends repo:acme@<owner id>\/app@<repository id>:…/, severity: "warning" },
  ]);
  t.match(await warned({ subject: "repo:acme@1/app@2:*" }), [{ path: "subject", message: /sends repo:acme\/app:…/ }]);
  t.same(await warned({ subject: "project_path:acme/app:*" }), []);
  t.same(await warned({ issuer: "http://localhost:9000" }), []);
  for (const issuer of ["http://localhost:9001", "http://127.0.0.1:9000", "https://10.0.0.1", "https://localhost"]) {
    const message = `is not reached from here: OUTBOUND_ALLOW must name ${issuer}`;
    t.match(await warned({ issuer }), [{ path: "issuer", message }], issuer);
  }
});

t.test("tokens and trusts of a person who left stay valid, with a warning", async (t) => {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  const { workspaceId } = await workspaceWithTeam(ada);
  const bob = await join(service, ada, "bob@example.com", { role: "admin" });
  const within = `/api/resources/workspaces/${workspaceId}`;
  const trust = await bob.create(`${within}/token-trusts`, body);
  const token = await bearer(service, bob, { workspaceId, name: "his", scopes: ["read"] });
  t.same(trust.warnings, []);
  t.equal((await ada.request("DELETE", `/api/workspaces/acme/members/${bob.userId}`)).status, 204);
  t.equal((await bob.request("GET", within)).status, 404);
  const [trusts, tokens] = [
    await token.request("GET", `${within}/token-trusts`),
    await ada.request("GET", `${within}/tokens`),
  ];
  const message = /left the workspace/;
  t.match(trusts.body, { items: [{ warnings: [{ path: "definedBy", message, severity: "warning" }] }] });
  t.match(tokens.body, { items: [{ warnings: [{ path: "issuedBy", message, severity: "warning" }] }] });
});

t.test("a token grants only scopes that it has; a person is not limited", async (t) => {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  const { workspaceId } = await workspaceWithTeam(ada);
  const trusts = `/api/resources/workspaces/${workspaceId}/token-trusts`;
  const one = (id: unknown) => `/api/resources/token-trusts/${id}`;
  const reads = await bearer(service, ada, { workspaceId, name: "reads", scopes: ["read", "trusts"] });
  const configures = await bearer(service, ada, { workspaceId, name: "configures", scopes: ["configure", "trusts"] });
  const noTrusts = await bearer(service, ada, { workspaceId, name: "no-trusts", scopes: ["configure"] });

  const mine = await createUnder(reads, trusts, { ...body, key: "mine", scopes: ["read", "trusts"] }, "k1");
  const me = await ada.request("GET", "/api/sessions/me");
  t.same([mine.status, mine.body?.definedBy], [201, me.body?.userId], "for who issued the token");
  const lacking = await createUnder(noTrusts, trusts, { ...body, key: "more" }, "k2");
  const more = await createUnder(reads, trusts, { ...body, key: "more", scopes: ["plan"] }, "k2");
  t.match(more.body, { status: 403, title: "Not allowed to change the workspace-token-trust" });
  t.same(more.text, lacking.text, "as for a caller lacking the permission");
  t.equal(
    (await createUnder(configures, trusts, { ...body, key: "more", scopes: ["plan"] }, "k3")).status,
    201,
    "configure grants plan",
  );

  const big = await ada.create(trusts, { ...body, key: "big", scopes: ["configure", "secrets"] });
  const cut = { ...body, key: "big", scopes: ["read"] };
  t.equal((await replace(reads, one(big.id), 1, cut)).status, 403, "the scopes it has now are not held");
  t.equal((await remove(reads, one(big.id), 1)).status, 403);
  t.equal((await replace(reads, one(big.id), 7, cut)).status, 403, "whatever version it is based on");
  t.equal((await replace(ada, one(big.id), 1, cut)).status, 200);
  t.equal((await replace(reads, one(big.id), 2, { ...cut, scopes: ["configure"] })).status, 403, "nor the new ones");
  t.equal((await replace(reads, one(big.id), 2, { ...cut, lifetimeMinutes: 1 })).status, 200);
  t.equal((await remove(reads, one(big.id), 3)).status, 204);
});

t.test("a change of a trust keeps who defined it, and records its terms", async (t) => {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  const { workspaceId } = await workspaceWithTeam(ada);
  const trust = await ada.create(`/api/resources/workspaces/${workspaceId}/token-trusts`, body);
  const changed = await replace(ada, `/api/resources/token-trusts/${trust.id}`, 1, { ...body, lifetimeMinutes: 5 });
  t.equal(changed.body?.definedBy, trust.definedBy);
  const log = await ada.request("GET", "/api/workspaces/acme/configuration-changes?limit=1");
  t.match(log.body, {
    items: [
      {
        resource: "workspace-token-trust",
        resourceId: trust.id,
        key: "ci",
        action: "updated",
        details: {
          issuer: body.issuer,
          subject: body.subject,
          audience: "service",
          scopes: ["read"],
          lifetimeMinutes: 5,
        },
      },
    ],
  });
});
