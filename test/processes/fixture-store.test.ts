import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { Webhook } from "standardwebhooks";
import t, { type Test } from "tap";
import { openStoreForReading } from "../../http/process/open-store.js";
import { GLOBAL_PARTITION, timerSpace } from "../../storage/keys.js";
import { openLmdbStore } from "../../storage/lmdb-store.js";
import { countKeys } from "../fixtures/manifest.js";
import { type OpenFixture, openFixture } from "../fixtures/open.js";
import { readEverything } from "../fixtures/reads.js";
import { recordedAnswers, unpackFixture } from "../fixtures/unpack.js";
import { type HookRequest, hookReceiver, hookSecret } from "../support/hook-receiver.js";
import { listItems, replace } from "../support/resources.js";
import { RunnerPeer } from "../support/runner-peer.js";
import { until } from "../support/until.js";

const NAME = "format-1";
const open = (t: Test) => openFixture(t, NAME);
/** `FIRST_WAIT_MS` is the service's wait after a hook's first attempt. `LEASE_MS` is a runner's lease. */
const FIRST_WAIT_MS = 2_000;
const LEASE_MS = 30_000;

/** Warnings that later releases give, but the fixture's release did not give. */
const LATER_WARNINGS: readonly unknown[] = [
  {
    path: "station.runners",
    message: "differs from the live station's: its copies may run on different runners from the baseline's",
    severity: "warning",
  },
];

/** Warnings that the fixture's release gave about features that now work. */
const ENDED_WARNINGS: readonly unknown[] = [
  { path: "actions", message: "actions are not run yet", severity: "warning" },
  { path: "tools", message: "tools are not called yet", severity: "warning" },
];

/**
 * Matches a warning about a hook whose host is not on the allow-list. Earlier releases gave this warning only for
 * integrations.
 */
const NOT_ALLOWED = /^the step fails with not-allowed: /;

function isLater(warning: unknown): boolean {
  return LATER_WARNINGS.some((later) => isDeepStrictEqual(later, warning)) || NOT_ALLOWED.test(toMessage(warning));
}

/** Returns the warning without the setting's name, which earlier releases did not include. */
function withoutSetting(warning: unknown): unknown {
  return { ...Object(warning), message: toMessage(warning).replace(" (OUTBOUND_ALLOW)", "") };
}

function toMessage(warning: unknown): string {
  return typeof warning === "object" && warning !== null && "message" in warning ? String(warning.message) : "";
}

function isOver(warning: unknown): boolean {
  return ENDED_WARNINGS.some((ended) => isDeepStrictEqual(ended, warning));
}

/** Returns the paths at which `now` lacks or changes a part of `then`. Additional fields in `now` do not count. */
function differences(then: unknown, now: unknown, at: string): string[] {
  if (typeof then !== "object" || then === null || typeof now !== "object" || now === null) {
    return Object.is(then, now) ? [] : [`${at}: ${JSON.stringify(then)} is ${JSON.stringify(now)}`];
  }
  if (at.endsWith(".warnings") && Array.isArray(then) && Array.isArray(now)) {
    const left = now.filter((warning) => !isLater(warning)).map(withoutSetting);
    const lasting = then.filter((warning) => !isOver(warning));
    return isDeepStrictEqual(lasting, left) ? [] : [`${at}: ${JSON.stringify(then)} is ${JSON.stringify(now)}`];
  }
  if (Array.isArray(then) && Array.isArray(now) && then.length !== now.length) {
    return [`${at}: ${then.length} entries are ${now.length}`];
  }
  const fields = new Map<string, unknown>(Object.entries(now));
  return Object.entries(then).flatMap(([name, value]) => differences(value, fields.get(name), `${at}.${name}`));
}

t.test("the fixture holds what its manifest counts: work in every state, and what the crash interrupted", async (t) => {
  const { folder, manifest } = unpackFixture(t, NAME);
  const store = await openLmdbStore({ folder, readOnly: true });
  t.same(countKeys(store.reading), manifest.counts);
  await store.close();
  const interrupted = ["effect/hook-occurrence", "effect/invite", "dead", "mail/hook-occurrence", "~/timer/runner"];
  for (const name of [...interrupted, "row/queued-run", "row/approval-open", "row/claim", "row/runner-outbox"]) {
    t.ok((manifest.counts[name] ?? 0) > 0, name);
  }
});

t.test("an operator of this release copies the store as it is, before it is brought up to date", async (t) => {
  const { folder, manifest } = unpackFixture(t, NAME);
  const store = await openStoreForReading(folder);
  const copy = join(folder, "copy");
  await store.backup(copy);
  await store.close();
  const copied = await openLmdbStore({ folder: copy, readOnly: true });
  t.same(countKeys(copied.reading), manifest.counts);
  t.equal(copied.reading.get(["~", "meta", "format"]), 1);
  await copied.close();
});

t.test("every read of the store is answered as it was by the release that wrote it, but for additions", async (t) => {
  const { ada, manifest } = await open(t);
  const then = recordedAnswers(NAME);
  const now = await readEverything(ada, manifest);
  t.same(differences(then, now, ""), []);
  t.same(
    Object.entries(then).filter(([, { status }]) => status !== 200),
    [],
  );
});

t.test("sessions and tokens admit as before, and one that was revoked does not", async (t) => {
  const { service, manifest } = await open(t);
  const { sessions, tokens, people, workspaceId } = manifest;
  const bob = await service.withSession(sessions.bob).request("GET", "/api/sessions/me");
  t.match(bob.body, { userId: people.bob, workspaces: [{ slug: "acme", role: "member" }] });
  const read = async (token: string) =>
    (await service.withToken(token).request("GET", `/api/resources/workspaces/${workspaceId}`)).status;
  t.equal(await read(tokens.read), 200);
  t.equal(await read(tokens.minted), 200);
  t.equal(await read(tokens.revoked), 401);
});

t.test("the address of the workspace is taken still, and a key of then is answered as then", async (t) => {
  const { ada, manifest } = await open(t);
  const slug = { slug: "acme", name: "Acme" };
  const again = await ada.request("POST", "/api/resources/workspaces", slug, { "idempotency-key": "another" });
  t.match(again.body, { type: "urn:service:problem:already-exists" }, again.text);
  const key = { "idempotency-key": '{"key":"gpu","labels":["gpu"]}' };
  const path = `/api/resources/workspaces/${manifest.workspaceId}/runner-pools`;
  const replayed = await ada.request("POST", path, { key: "gpu", labels: ["gpu"] }, key);
  t.equal(replayed.headers["idempotent-replayed"], "true", replayed.text);
  t.equal(replayed.status, 201);
});

t.test("what an agent asked is answered, and its run is lost with the runner that never comes back", async (t) => {
  const { service, ada, manifest, clock } = await open(t);
  const run = `/api/runs/${manifest.runs.asking}`;
  const [approval] = listItems(await ada.request("GET", `${run}/approvals`));
  t.match(approval, { tool: "shell", state: "open" });
  const approved = await ada.request("POST", `${run}/approvals/${approval?.id}/approve`, {});
  t.equal(approved.status, 200, approved.text);
  t.match((await ada.request("GET", `/api/tasks/${manifest.tasks.asking}`)).body, {
    asks: null,
    approvals: { length: 0 },
  });
  const { runnerId } = (await ada.request("GET", run)).body ?? {};
  // The clock skips the end of the lease, so the service handles the lease's timer late and gives the runner another
  // lease. The new lease ends exactly `LEASE_MS` from now.
  clock.advance(2 * LEASE_MS);
  const lease = [
    GLOBAL_PARTITION,
    timerSpace,
    clock.now() + LEASE_MS,
    manifest.workspaceId,
    "runner",
    String(runnerId),
  ];
  await until("another lease", () => service.runtime.reading.range({ prefix: lease }).length > 0);
  clock.advance(LEASE_MS);
  const lost = await until("the end of the run", async () => {
    const { body } = await ada.request("GET", run);
    return body?.state === "ended" && body;
  });
  t.match(lost, { outcome: "abandoned" });
  const [next] = listItems(await ada.request("GET", `/api/tasks/${manifest.tasks.asking}/runs`));
  t.match(next, { state: "queued", waiting: { reason: "No runner of pool careful is connected." } });
});

t.test("queued runs wait on, and are claimed once a runner fits", async (t) => {
  const { service, ada, manifest } = await open(t);
  const { queued, told, setAside, sentAgain } = manifest.tasks;
  const peer = await RunnerPeer.join(service, manifest.tokens.gpuPool, { slots: 4 });
  t.teardown(() => peer.cut());
  const jobs = [await peer.job(), await peer.job(), await peer.job(), await peer.job()];
  t.same(
    jobs.map(({ task }) => task?.id),
    [told, setAside, sentAgain, queued],
    "in the order of then",
  );
  const job = jobs.find(({ runId }) => runId === manifest.runs.queued);
  t.match(job, { task: { title: "Nobody fits" }, station: { key: "work" }, line: { key: "elsewhere" } });
  if (job === undefined) return;
  peer.start(job);
  peer.end(job);
  const done = await until("the end of the task", async () => {
    const { body } = await ada.request("GET", `/api/tasks/${queued}`);
    return body?.state === "done" && body;
  });
  t.match(done, { runId: manifest.runs.queued });
});

/** Points the manifest's hooks to the test's receiver. */
async function moveHooks({ ada, manifest }: OpenFixture, url: string): Promise<void> {
  for (const id of Object.values(manifest.hooks)) {
    const path = `/api/resources/hooks/${id}`;
    const { key, on, match } = (await ada.request("GET", path)).body ?? {};
    const steps = [{ name: "tell", request: { url: `${url}/${key}` } }];
    const moved = await replace(ada, path, 3, { key, on, match, steps, signing: { secretVersion: 2 } });
    if (moved.status !== 200) throw new Error(moved.text);
  }
}

/**
 * Whether the reference library computes the signature that the request has. The test does not use the library's
 * verification, because the fixture's requests are too old for it.
 */
function isSigned({ headers, text }: HookRequest): boolean {
  const at = new Date(Number(headers["webhook-timestamp"]) * 1_000);
  const signature = new Webhook(hookSecret).sign(String(headers["webhook-id"]), at, text);
  return String(headers["webhook-signature"]).split(" ").includes(signature);
}

t.test("the delivery that was under way ran again at the start, and goes on to be delivered, signed", async (t) => {
  const receiver = await hookReceiver(t, (response) => response.end("{}"));
  const fixture = await openFixture(t, NAME, [receiver.url]);
  const { occurrence, manifest, clock } = fixture;
  const { hanging, failing, sentAgain } = manifest.occurrences;
  t.match(await occurrence(hanging), { attempts: [{ n: 1, code: "unreachable" }] });
  t.match(await occurrence(failing), { attempts: [{ n: 1, status: 503 }] }, "it waited, so it waits on");
  t.match(await occurrence(sentAgain), { attempts: [{ n: 1, code: "unreachable" }] }, "a message came from the mail");
  await moveHooks(fixture, receiver.url);
  clock.advance(FIRST_WAIT_MS);
  for (const id of [hanging, failing, sentAgain]) {
    await until(`${id} to be delivered`, async () => (await occurrence(id)).state === "delivered");
  }
  const requests = await receiver.arrived(3);
  t.ok(requests.every(isSigned), "under the secret that lies encrypted in the store");
  t.same(
    new Set(requests.map(({ headers }) => headers["webhook-id"])),
    new Set([hanging, failing, sentAgain].map((id) => `${id.replace(/^occ/, "msg")}_tell`)),
  );
});

t.test("a message that was set aside is retried, and its hook fires", async (t) => {
  const receiver = await hookReceiver(t, (response) => response.end("{}"));
  const fixture = await openFixture(t, NAME, [receiver.url]);
  const { ada, manifest, occurrence } = fixture;
  await moveHooks(fixture, receiver.url);
  const letters = "/api/workspaces/acme/dead-letters";
  t.match(listItems(await ada.request("GET", letters)), [{ id: manifest.deadLetter, message: "hook.fire" }]);
  t.equal((await ada.request("POST", `${letters}/${manifest.deadLetter}/retry`, {})).status, 202);
  const { setAside } = manifest.occurrences;
  await until("the delivery", async () => (await occurrence(setAside)).state === "delivered");
  t.match(await occurrence(setAside), { hook: "late", taskId: manifest.tasks.setAside });
  t.same(listItems(await ada.request("GET", letters)), []);
});

t.test("the mail that the mail server had not taken is sent again, and its link admits", async (t) => {
  const { service, manifest } = await open(t);
  const { dave } = manifest.invited;
  const [, token] = await service.logged(new RegExp(`invite for ${dave}: .*/invites/([\\w-]+)`));
  const client = await service.signIn(dave);
  const accepted = await client.request("POST", `/api/invites/${token}/accept`, {});
  t.equal(accepted.status, 200, accepted.text);
  t.match((await client.request("GET", "/api/sessions/me")).body, { workspaces: [{ slug: "acme", role: "admin" }] });
});
