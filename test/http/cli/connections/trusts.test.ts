import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { openCommandScene, testCommands } from "../../../support/command-cases.js";
import { type Claims, makeKeys, startIssuer } from "../../../support/issuer.js";
import { listItems } from "../../../support/resources.js";
import { trustCases } from "./trusts-cases.js";

const keys = await makeKeys(["ES256"]);

/** Opens a workspace that trusts an issuer. */
async function openScene(t: Test) {
  const issuer = await startIssuer(t, keys);
  const scene = await openCommandScene(t, { OUTBOUND_ALLOW: issuer.url });
  const { person, service, workspaceId } = scene;
  const trusts = `/api/resources/workspaces/${workspaceId}/token-trusts`;
  const terms = { issuer: issuer.url, subject: "repo:acme/app:*", claims: { environment: "prod-*" } };
  const trust = await person.create(trusts, { key: "ci", scopes: ["configure"], ...terms });
  const exchange = async (token: string) =>
    (await service.anonymous.request("POST", "/api/workspace-tokens/exchange", { trust: trust.id, token })).status;
  return { ...scene, issuer, trust, trusts, terms, exchange };
}

t.test("trust try says what the exchange decides, for each claim, and keeps nothing of the token", async (t) => {
  const scene = await openScene(t);
  const { signalbox, issuer, exchange } = scene;
  await testCommands(t, scene, trustCases);
  const now = Math.floor(Date.now() / 1_000);
  const good = { environment: "prod-eu" };
  const rows: readonly (readonly [Claims, string | null])[] = [
    [good, null],
    [{ ...good, aud: ["other", "service"] }, null],
    [{ ...good, aud: "Service" }, "aud"],
    [{ ...good, sub: "repo:acme/apple:ref:refs/heads/main" }, "sub"],
    [{ ...good, iss: "https://elsewhere.example" }, "iss"],
    [{ environment: "staging" }, "environment"],
    [{ environment: ["prod-eu"] }, "environment"],
    [{}, "environment"],
    [{ ...good, exp: now - 60 }, "exp"],
    [{ ...good, exp: undefined }, "exp"],
    [{ ...good, nbf: now + 120 }, "nbf"],
    [{ ...good, iat: now + 120 }, "iat"],
  ];
  const tokens: string[] = [];
  const outputs: string[] = [];
  for (const [claims, wrong] of rows) {
    const token = await issuer.token(claims);
    tokens.push(token);
    const { code, out, err } = await signalbox.run(["trust", "try", "-"], { input: `${token}\n` });
    outputs.push(out, err);
    t.equal(code, wrong === null ? 0 : 1, out);
    t.equal(await exchange(token), wrong === null ? 200 : 401, "the exchange decides the same");
    t.match(err, /the signature was not checked: only the service can/);
    if (wrong === null) t.match(out, /accepts the claims/);
    else t.match(out, new RegExp(`rejects the token: ${wrong}\\n[\\s\\S]*\\n${wrong} +no `));
  }
  const { home } = signalbox;
  const files = readdirSync(home, { recursive: true, encoding: "utf8" }).filter((path) =>
    statSync(join(home, path)).isFile(),
  );
  const kept = [...outputs, ...files.map((path) => readFileSync(join(home, path), "utf8"))].join("\n");
  const parts = tokens.flatMap((token) => token.split(".").slice(1));
  t.same(
    parts.filter((part) => kept.includes(part)),
    [],
  );
});

t.test("trust try chooses trusts by issuer, and says what is no token without repeating it", async (t) => {
  const { signalbox, issuer, person, trusts, terms, workspaceId } = await openScene(t);
  const token = await issuer.token({ environment: "prod", note: "a\u001b[31mb" });
  await person.create(trusts, { key: "other", scopes: ["read"], ...terms, issuer: "https://other.example" });
  const one = await signalbox.run(["trust", "try", token]);
  t.match(one, { code: 1, out: /^trust ci .*rejects the token: environment\n/ });
  t.notMatch(one.out, /trust other/);
  t.match(one.out, /\nnote +not checked +- +a \[31mb/);
  await person.create(trusts, { key: "wide", scopes: ["read"], ...terms, claims: {} });
  const both = await signalbox.run(["trust", "try", token]);
  t.match(both, { code: 0, out: /trust ci [\s\S]*\n\ntrust wide .* accepts the claims/ });
  t.match(await signalbox.run(["trust", "try", token, "--trust", "other"]), {
    code: 1,
    out: /rejects the token: iss, env/,
  });
  t.match(await signalbox.run(["trust", "try", token, "--trust", "none"]), {
    code: 1,
    err: /has no trust none; it has: /,
  });
  const unsigned = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${token.split(".")[1]}.`;
  t.match(await signalbox.run(["trust", "try", unsigned]), { code: 1, out: /rejects the token: alg/ });
  for (const text of ["s3cret", "a.b.c", token.slice(0, 40), `${"x".repeat(20_000)}`]) {
    const { code, err } = await signalbox.run(["trust", "try", text]);
    t.equal(code, 1);
    t.match(err, /this is not a signed JSON Web Token|the token has 20000 characters/);
    t.notOk(err.includes(text));
  }
  for (const { id, version } of listItems(await person.request("GET", trusts))) {
    await person.request("DELETE", `/api/resources/token-trusts/${id}`, undefined, { "if-match": `"${version}"` });
  }
  t.match(await signalbox.run(["trust", "try", token]), { code: 1, err: /the workspace acme has no trusts/ });
  const pools = `/api/resources/workspaces/${workspaceId}/runner-pools`;
  await person.create(pools, { key: "main", kind: "pull" });
  const { issuer: url, subject } = terms;
  await person.create(`/api/resources/workspaces/${workspaceId}/runner-trusts`, {
    key: "hosts",
    issuer: url,
    subject,
    pools: ["main"],
  });
  t.match(await signalbox.run(["trust", "try", token]), {
    code: 0,
    out: /^trust hosts \(rtrust_\S+, for pool tokens\) acc/,
  });
});
