import t from "tap";
import { ManualClock } from "../../support/manual-clock.js";
import { bearer, createUnder, workspaceWithTeam } from "../../support/resources.js";
import { startTestService, type TestService } from "../../support/service.js";

const DAY_MS = 24 * 60 * 60 * 1_000;
const AHEAD_MS = 20 * DAY_MS;

t.test("what a clock ahead had refused as expired stays refused; nobody else is kept out", async (t) => {
  const clock = new ManualClock();
  const service = await startTestService(t, { clock });
  const ada = await service.signIn("ada@example.com");
  const { workspaceId } = await workspaceWithTeam(ada);
  const expiresAt = new Date(clock.now() + 10 * DAY_MS).toISOString();
  const token = (name: string) => bearer(service, ada, { workspaceId, name, scopes: ["configure"], expiresAt });
  const [refused, unused] = [await token("refused"), await token("unused")];
  const path = `/api/resources/workspaces/${workspaceId}`;
  const readStatus = async (client: { readonly credentials: Readonly<Record<string, string>> }, on: TestService) =>
    (await on.anonymous.request("GET", path, undefined, { ...client.credentials })).status;

  clock.advance(AHEAD_MS);
  t.equal(await readStatus(refused, service), 401);
  t.equal(await readStatus(ada, service), 200, "a session lasts longer");
  for (let mails = 0; mails < 5; mails++) await service.linkFor("bob@example.com");
  const made = await createUnder(ada, `${path}/teams`, { key: "ahead", name: "Ahead" }, "ahead");
  t.equal(made.status, 201, made.text);

  clock.setBack(AHEAD_MS);
  t.equal(await readStatus(refused, service), 401, "the same process");
  t.equal(await readStatus(unused, service), 200);
  t.equal(await readStatus(ada, service), 200);
  const bob = await service.signIn("bob@example.com");
  t.equal((await bob.request("GET", "/api/sessions/me")).status, 200, "mails that were sent ahead do not count");
  const again = await createUnder(ada, `${path}/teams`, { key: "ahead", name: "Ahead" }, "ahead");
  t.same([again.status, again.headers["idempotent-replayed"]], [201, "true"]);

  await service.stop();
  const next = await startTestService(t, { clock, folder: service.folder });
  t.equal(await readStatus(refused, next), 401, "the next process");
  t.equal(await readStatus(unused, next), 200);
});
