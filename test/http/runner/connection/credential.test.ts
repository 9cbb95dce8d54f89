import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { hostCredential, NoCredential, poolToken } from "../../../../http/runner/connection/credential.js";
import { startRunner } from "../../../../http/runner/runner.js";
import { type Claims, type IssuerKey, makeKeys, startIssuer } from "../../../support/issuer.js";
import { ManualClock } from "../../../support/manual-clock.js";
import { replace, workspaceWithTeam } from "../../../support/resources.js";
import { startTestService } from "../../../support/service.js";

const keys: readonly IssuerKey[] = await makeKeys(["ES256"]);
const HOUR_MS = 60 * 60_000;

/** Opens a service with a runner trust that admits this host. Also creates the file with the host's token. */
async function openYard(t: Test, pools: readonly string[] = ["main"]) {
  const issuer = await startIssuer(t, keys);
  const clock = new ManualClock();
  const service = await startTestService(t, { clock, settings: { OUTBOUND_ALLOW: issuer.url } });
  const ada = await service.signIn("ada@example.com");
  const { workspaceId } = await workspaceWithTeam(ada);
  const within = `/api/resources/workspaces/${workspaceId}`;
  for (const key of pools) await ada.create(`${within}/runner-pools`, { key });
  const body = { key: "hosts", issuer: issuer.url, subject: "host/*", pools };
  const trust = await ada.create(`${within}/runner-trusts`, body);
  const folder = mkdtempSync(join(tmpdir(), "signalbox-credential-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const tokenFile = join(folder, "token");
  const put = async (claims: Claims = {}) => {
    const token = await issuer.token({ sub: "host/7", ...claims }, { nowMs: clock.now() });
    writeFileSync(tokenFile, `${token}\n`);
    return token;
  };
  const now = () => clock.now();
  const toCredential = (pool: string | null = null, url = service.baseUrl) =>
    hostCredential({ url, trust: trust.id, tokenFile, pool, now });
  return { clock, service, ada, trust, body, folder, tokenFile, put, credentialOf: toCredential };
}

async function refusal(wanted: Promise<string>): Promise<{ message: string; isRefusal: boolean }> {
  const error = await wanted.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof NoCredential)) throw new Error(`no NoCredential: ${error}`);
  return { message: error.message, isRefusal: error.isRefusal };
}

t.test("a pool's own token is what it is", async (t) => {
  const credential = poolToken("pool-token");
  t.equal(await credential.token(), "pool-token");
  credential.refused();
  t.same([await credential.token(), credential.hidden()], ["pool-token", ["pool-token"]]);
});

t.test("a host's token is exchanged once for the hour it admits, and anew when it was refused", async (t) => {
  const { clock, put, credentialOf: toCredential } = await openYard(t);
  const credential = toCredential();
  const proof = await put();
  const first = await credential.token();
  t.match(first, /^[\w-]{43}$/);
  t.same(credential.hidden(), [proof, first], "neither is ever said");
  clock.advance(HOUR_MS - 61_000);
  t.equal(await credential.token(), first);
  clock.advance(1_000);
  await put();
  const second = await credential.token();
  t.not(second, first, "one that is about to end is not connected with");
  credential.refused();
  t.not(await credential.token(), second);
});

t.test("what stands in the way is said in words, with nothing secret in them", async (t) => {
  const { service, trust, tokenFile, put, credentialOf: toCredential } = await openYard(t, ["fast", "slow"]);
  t.same(await refusal(toCredential().token()), {
    message: `cannot read this host's token from ${tokenFile}: ENOENT`,
    isRefusal: false,
  });
  await put({ sub: "stranger" });
  const refused = await refusal(toCredential().token());
  t.match(refused, { message: `the runner trust ${trust.id} does not admit this host`, isRefusal: true });
  await put();
  t.match(await refusal(toCredential().token()), { message: /the pools fast, slow: choose one with --pool/ });
  t.match(await refusal(toCredential("other").token()), { message: /the pools fast, slow: other is not one of them/ });
  t.match(await toCredential("slow").token(), /^[\w-]{43}$/);
  await service.stop();
  t.match(await refusal(toCredential("slow").token()), { message: /does not respond/, isRefusal: false });
});

t.test("a host's token is sent to the service alone: a redirect is not followed", async (t) => {
  const { put, credentialOf: toCredential } = await openYard(t);
  await put();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.writeHead(307, { location: "/elsewhere" }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => new Promise((resolve) => server.close(resolve)));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  t.match(await refusal(toCredential(null, url).token()), { message: /does not respond/ });
  t.same(asked, ["/api/runner-trusts/exchange"]);
});

t.test("a runner admitted by a trust comes back by itself when what it was admitted by is over", async (t) => {
  const { clock, service, ada, trust, body, folder, put, credentialOf: toCredential } = await openYard(t);
  await put();
  const said: string[] = [];
  let heard = () => {};
  const runner = await startRunner({
    url: service.baseUrl,
    credential: toCredential(),
    name: "host",
    labels: [],
    slots: 1,
    command: ["true"],
    workFolder: join(folder, "work"),
    gitUrl: `${folder}/{name}`,
    passEnv: [],
    instance: "0123456789abcdef",
    clock,
    random: () => 0.5,
    log: (line) => {
      said.push(line);
      heard();
    },
  });
  t.teardown(() => runner.stop());
  const connected = async (times: number) => {
    while (said.filter((line) => line.startsWith("connected")).length < times) {
      await new Promise<void>((resolve) => {
        heard = resolve;
      });
      if (said.at(-1)?.includes("lost the service, retrying")) {
        // The connection logs this line just before it starts to wait. So let the wait start first.
        await new Promise((resolve) => setImmediate(resolve));
        clock.advance(250);
      }
    }
  };
  await connected(1);
  for (const version of [1, 2]) {
    const claims = { round: `${version}` };
    t.equal((await replace(ada, `/api/resources/runner-trusts/${trust.id}`, version, { ...body, claims })).status, 200);
    await put(claims);
    clock.advance(5_000);
    await connected(version + 1);
  }
  t.equal(said.filter((line) => line.startsWith("connected again as runner_")).length, 2, "as the same runner");
});
