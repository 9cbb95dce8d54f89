import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { fileProof, githubProof, trustedToken } from "../../../../http/cli/check/credential.js";
import { Service } from "../../../../http/cli/check/service.js";
import { type Came, type Scripted, type ScriptedServer, startScripted } from "./scripted-service.js";

const minute = 60_000;

/**
 * Starts a server that is both GitHub and the service. It issues the OIDC tokens `proof-1`, `proof-2` and so on, and
 * the service tokens `token-1` and so on.
 */
async function open(t: Test, answer: (came: Came, tokens: number) => Scripted) {
  const count = { proofs: 0, tokens: 0 };
  const scripted: ScriptedServer = await startScripted(t, (came) => {
    if (came.path.startsWith("/oidc")) {
      count.proofs += 1;
      return { status: 200, body: { value: `proof-${count.proofs}` } };
    }
    if (came.path !== "/api/workspace-tokens/exchange") return answer(came, count.tokens);
    count.tokens += 1;
    const expiresAt = new Date(scripted.requests.nowMs() + 15 * minute).toISOString();
    return { status: 200, body: { token: `token-${count.tokens}`, workspaceId: "ws_1", expiresAt } };
  });
  const { requests, url } = scripted;
  const requestUrl = `${url}/oidc?api-version=2.0`;
  const proof = githubProof({ requests, audience: "our service", requestUrl, requestToken: "job-secret" });
  const credential = trustedToken({ requests, url, trust: "trust_1", proof });
  return { ...scripted, credential, service: new Service({ requests, url, credential }) };
}

t.test("GitHub's token of the audience is exchanged once, while it lasts", async (t) => {
  const { service, came, credential } = await open(t, () => ({ status: 200 }));
  await service.get("/x");
  await service.get("/y");
  const [asked, exchanged, first, second] = came;
  t.equal(asked?.path, "/oidc?api-version=2.0&audience=our+service");
  t.equal(asked?.headers.authorization, "Bearer job-secret");
  t.same(exchanged?.body, { trust: "trust_1", token: "proof-1" });
  t.same([exchanged?.headers.authorization, first?.headers.authorization], [undefined, "Bearer token-1"]);
  t.same([second?.headers.authorization, came.length], ["Bearer token-1", 4]);
  t.same(credential.hidden(), ["proof-1", "token-1", "job-secret"]);
});

t.test("a token that runs out is exchanged anew, with a new one of the platform's", async (t) => {
  const { service, came, advance } = await open(t, () => ({ status: 200 }));
  await service.get("/x");
  advance(15 * minute - 20_000);
  await service.get("/y");
  t.equal(came.at(-1)?.headers.authorization, "Bearer token-2");
  t.same(came.at(-2)?.body, { trust: "trust_1", token: "proof-2" });
});

t.test("a token that the service ended in the middle is exchanged anew, once a request", async (t) => {
  const ended = await open(t, (_, tokens) => ({ status: tokens > 1 ? 200 : 401 }));
  t.equal((await ended.service.get("/x")).status, 200);
  t.equal(ended.came.length, 6);
  const never = await open(t, () => ({ status: 401 }));
  t.equal((await never.service.get("/x")).status, 401);
  t.equal(never.came.length, 6);
});

t.test("a token that was issued to keep is not exchanged", async (t) => {
  const { service, came } = await startScripted(t, () => ({ status: 401 }));
  t.equal((await service.get("/x")).status, 401);
  t.equal(came.length, 1);
});

t.test("an exchange that is refused says where to read why, and a platform that gives no token is named", async (t) => {
  const refusing = await startScripted(t, ({ path }) =>
    path.startsWith("/oidc") ? { status: 200, body: { value: "proof" } } : { status: 401 },
  );
  const { requests, url } = refusing;
  const github = (requestUrl: string) => githubProof({ requests, audience: "a", requestUrl, requestToken: "s" });
  const trusted = trustedToken({ requests, url, trust: "trust_1", proof: github(`${url}/oidc`) });
  await t.rejects(trusted.headers(), {
    name: "CouldNotAsk",
    message: /\/api\/resources\/token-trusts\/trust_1\/refusals/,
  });
  await t.rejects(github(`${url}/none`).get(), {
    message: /GitHub did not return an OIDC token for this job: it responded with status 401/,
  });
});

t.test("a file's token is read anew for each exchange", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-proof-"));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const proof = fileProof(join(folder, "token"));
  await t.rejects(proof.get(), { name: "CouldNotAsk", message: /annot read .* from .*: ENOENT/ });
  writeFileSync(join(folder, "token"), "one\n");
  t.equal(await proof.get(), "one");
  writeFileSync(join(folder, "token"), "two\n");
  t.equal(await proof.get(), "two");
});
