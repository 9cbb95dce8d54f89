import { createHash } from "node:crypto";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { isServedReadOnly } from "../../../http/wire/route.js";
import { LOCK_FILE } from "../../../storage/folder-lock.js";
import { openLmdbStore } from "../../../storage/lmdb-store.js";
import { unpackFixture } from "../../fixtures/unpack.js";
import { hook, hookScene } from "../../support/hook-scene.js";
import { startMailServer } from "../../support/mail-server.js";
import { ManualClock } from "../../support/manual-clock.js";
import { toProblem, toSlug } from "../../support/resources.js";
import { toTables } from "../../support/route-table.js";
import { type Client, startTestService, type TestService } from "../../support/service.js";
import { StreamReader } from "../../support/stream-reader.js";

const DAY_MS = 24 * 60 * 60 * 1_000;
const detail = "This service was started with --read-only: it serves reads, and changes and sends nothing.";

function toFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-read-only-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Returns a digest of a folder's data file, and the names of the folder's files except the empty lock file. */
function listContents(folder: string): readonly string[] {
  const digest = createHash("sha256")
    .update(readFileSync(join(folder, "data.mdb")))
    .digest("hex");
  const names = readdirSync(folder).filter((name) => name !== LOCK_FILE);
  return [digest, ...names.sort()];
}

/** Returns a one-day-old copy of a store in which a hook occurrence waits for a retry and a run waits for a runner. */
async function restored(t: Test) {
  const scene = await hookScene(t, (response) => response.writeHead(500).end());
  const { service, receiver, workspaceId, teamId, owner } = scene;
  const pools = `/api/resources/workspaces/${workspaceId}/runner-pools`;
  const pool = await owner.request("POST", pools, { key: "main" }, { "idempotency-key": "pool" });
  await scene.addHook(hook(receiver.url, { on: "task.opened" }));
  const taskId = await scene.openTask();
  await scene.settled("waiting");
  const sent = receiver.requests.length;
  const folder = toFolder(t);
  await service.stop();
  cpSync(service.folder, folder, { recursive: true });
  const clock = new ManualClock(Date.now() + DAY_MS);
  const settings = { OUTBOUND_ALLOW: receiver.url };
  const token = String(pool.headers["service-pool-token"]);
  return { ...scene, folder, clock, settings, taskId, sent, token, workspaceId, teamId };
}

t.test("a restored copy is looked at: reads, streams and sign-in work, and nothing of it goes on", async (t) => {
  const place = await restored(t);
  const { folder, clock, receiver, sent, taskId, teamId } = place;
  const mails = await startMailServer(t);
  const before = listContents(folder);
  const settings = { ...place.settings, SMTP_URL: mails.url };
  const service = await startTestService(t, { folder, clock, settings, isReadOnly: true });
  await service.logged(/read-only: the service serves reads and sign-in/);
  const ada = service.withSession(String(place.owner.credentials.cookie).replace("session=", ""));
  t.match((await ada.request("GET", `/api/tasks/${taskId}`)).body, { id: taskId, state: "queued" });
  t.match(await ada.request("GET", `/api/teams/${teamId}/hook-occurrences`), {
    body: { items: [{ state: "waiting" }] },
  });
  t.equal((await service.anonymous.request("GET", "/readyz")).status, 200);
  clock.advance(7 * DAY_MS);
  t.same(listContents(folder), before, "looking changes nothing");

  const eve = await service.signIn("ada@example.com");
  t.match((await eve.request("GET", "/api/sessions/me")).body, { email: "ada@example.com" });
  t.equal(mails.received.length, 0, "its link is in the log");
  const reader = await StreamReader.open(eve);
  t.teardown(async () => reader.end());
  reader.subscribe(`task/${taskId}`);
  t.match(await reader.until(({ kind }) => kind === "snapshot"), { data: { id: taskId } });
  t.equal((await eve.request("DELETE", "/api/sessions")).status, 204);
  t.equal((await eve.request("GET", "/api/sessions/me")).status, 401);
  t.equal(receiver.requests.length, sent, "no hook is sent");
  await service.stop();

  const later = await startTestService(t, { folder, clock, settings: place.settings });
  await receiver.arrived(sent + 1);
  t.equal(
    (await later.anonymous.request("GET", "/readyz")).status,
    200,
    "a start without it goes on where the copy was",
  );
});

for (const TRANSPORT of ["uws", "node"]) {
  t.test(
    `over ${TRANSPORT}, every write but sign-in is refused, and so are runners, by the same problem`,
    async (t) => {
      const { folder, clock, settings, owner, token } = await restored(t);
      const service = await startTestService(t, {
        folder,
        clock,
        settings: { ...settings, TRANSPORT },
        isReadOnly: true,
      });
      const ada = service.withSession(String(owner.credentials.cookie).replace("session=", ""));
      const { routes } = toTables(service);
      const refused = routes.filter((route) => !isServedReadOnly(route));
      for (const { method, path } of refused) await refuses(t, service, ada, { method, path });
      t.same(
        routes
          .filter(({ method }) => method !== "GET")
          .filter(isServedReadOnly)
          .map(({ method, path }) => `${method} ${path}`),
        [
          ...["POST /api/sign-in", "POST /api/sessions", "DELETE /api/sessions", "POST /api/expressions/check"],
          "POST /api/resources/dry-run",
          "POST /api/teams/{teamId}/lines/{lineId}/stations/{stationId}/searches/estimate",
        ],
      );
      for (const { method, path } of routes.filter((route) => route.method === "GET" && isServedReadOnly(route))) {
        const answer = await ada.request(method, path.replaceAll(/\{\w+\}/g, "none"));
        t.ok(answer.status < 500, `${path} answers ${answer.status}`);
      }
      const socket = service.withToken(token).socket("/api/runner");
      const [status, text] = await new Promise<readonly [number | undefined, string]>((resolve, reject) => {
        socket.on("open", () => reject(new Error("it was opened")));
        socket.on("error", () => undefined);
        socket.on("unexpected-response", (_request, response) => {
          let text = "";
          response.on("data", (chunk: Buffer) => (text += chunk.toString()));
          response.on("end", () => resolve([response.statusCode, text]));
        });
      });
      t.match([status, JSON.parse(text)], [503, { type: "urn:service:problem:read-only", detail }]);
    },
  );
}

async function refuses(
  t: Test,
  { anonymous }: TestService,
  ada: Client,
  { method, path }: { readonly method: string; readonly path: string },
): Promise<void> {
  const to = path.replaceAll(/\{\w+\}/g, "none");
  const body = method === "GET" || method === "DELETE" ? undefined : {};
  for (const client of [ada, anonymous]) {
    const answer = await client.request(method, to, body, { "idempotency-key": "k", "if-match": '"1"' });
    t.same([answer.status, toSlug(answer), toProblem(answer).detail], [503, "read-only", detail], `${method} ${path}`);
  }
}

t.test("a folder without a store, and a store of an earlier format, are not opened for looking", async (t) => {
  const empty = toFolder(t);
  await t.rejects(startTestService(t, { folder: empty, isReadOnly: true }), { message: /is not a store/ });
  t.same(readdirSync(empty), []);
  const { folder } = unpackFixture(t, "format-1");
  const before = listContents(folder);
  await t.rejects(startTestService(t, { folder, isReadOnly: true }), {
    message: /^the store in \S+ has an older format, and --read-only does not migrate: use the release that wrote it/,
  });
  t.same(listContents(folder).slice(0, 1), before.slice(0, 1));
});

t.test("a changed OUTBOUND_ALLOW writes nothing while the service is read-only", async (t) => {
  const folder = toFolder(t);
  const store = await openLmdbStore({ folder });
  t.teardown(() => store.close());
  const written = await startTestService(t, { folder, store, settings: { OUTBOUND_ALLOW: "one.example.com" } });
  await written.stop();
  const allowed = () => store.reading.get(["~", "meta", "allowed"]);
  const before = allowed();
  const service = await startTestService(t, { folder, store, isReadOnly: true });
  service.allow("two.example.com");
  for (let n = 0; n < 10; n++) await service.anonymous.request("GET", "/healthz");
  await service.stop();
  t.same(allowed(), before);
});
