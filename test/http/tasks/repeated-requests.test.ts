import t from "tap";
import { ManualClock } from "../../support/manual-clock.js";
import { join } from "../../support/people.js";
import { toSlug } from "../../support/resources.js";
import { toTables } from "../../support/route-table.js";
import type { Client, Reply } from "../../support/service.js";
import { openWorkplace, type Workplace } from "../../support/workplace.js";

const post = (client: Client, path: string, body: unknown, key?: string): Promise<Reply> =>
  client.request("POST", path, body, key === undefined ? {} : { "idempotency-key": key });
const wanted = { title: "Do it", line: "dev" };
const listTasks = async ({ ada, teamId }: Workplace) =>
  (await ada.request("GET", `/api/teams/${teamId}/tasks`)).body?.items as readonly unknown[];
const replayed = ({ status, headers }: Reply) => [status, headers["idempotent-replayed"]];

t.test("a client that lost the answer opens no second task, for a day and for itself alone", async (t) => {
  const clock = new ManualClock();
  const place = await openWorkplace(t, { clock });
  const path = `/api/teams/${place.teamId}/tasks`;
  const [first, twin] = await Promise.all([post(place.ada, path, wanted, "one"), post(place.ada, path, wanted, "one")]);
  t.same([replayed(first), replayed(twin)].sort(), [
    [201, undefined],
    [201, "true"],
  ]);
  t.same(twin.body, first.body);
  const again = await post(place.ada, path, { ...wanted, description: "" }, "one");
  t.same([replayed(again), again.body?.id], [[201, "true"], first.body?.id], "what is left out is its default");
  const other = await post(place.ada, path, { ...wanted, title: "Another" }, "one");
  t.same([other.status, toSlug(other)], [422, "idempotency-key-reused"]);
  for (const key of ["", "a b", "x".repeat(256)])
    t.equal(toSlug(await post(place.ada, path, wanted, key)), "bad-request");
  t.equal((await listTasks(place)).length, 1);

  const colleague = await join(place.service, place.ada, "bob@example.com", { teams: [place.teamId] });
  t.same(replayed(await post(colleague, path, wanted, "one")), [201, undefined], "another's key");
  await post(place.ada, `/api/tasks/${first.body?.id}/close`, {});
  const closed = await post(place.ada, path, wanted, "one");
  t.same([replayed(closed), closed.body?.state], [[201, "true"], "closed"], "as it is now");
  for (let n = 0; n < 2; n++) t.same(replayed(await post(place.ada, path, wanted)), [201, undefined], "without a key");
  clock.advance(24 * 60 * 60 * 1_000 + 1);
  t.same(replayed(await post(place.ada, path, wanted, "one")), [201, undefined]);
});

t.test("a repeat is answered although the line is gone, and not to who left the team", async (t) => {
  const place = await openWorkplace(t);
  const path = `/api/teams/${place.teamId}/tasks`;
  const colleague = await join(place.service, place.ada, "bob@example.com", { teams: [place.teamId] });
  const first = await post(colleague, path, wanted, "one");
  await post(place.ada, `/api/tasks/${first.body?.id}/close`, {});
  const line = `/api/resources/lines/${first.body?.lineId}`;
  const { headers } = await place.ada.request("GET", line);
  t.equal((await place.ada.request("DELETE", line, undefined, { "if-match": headers.etag ?? "" })).status, 204);
  t.equal((await post(colleague, path, wanted, "two")).status, 422);
  const again = await post(colleague, path, wanted, "one");
  t.same([replayed(again), again.body?.id], [[201, "true"], first.body?.id]);
  const outsider = await join(place.service, place.ada, "eve@example.com", { role: "admin" });
  t.equal((await post(outsider, path, wanted, "one")).status, 403);
});

t.test("notes and answers under a key are taken once", async (t) => {
  const place = await openWorkplace(t);
  const taskId = await place.open();
  const notes = `/api/tasks/${taskId}/notes`;
  const note = { text: "Mind the gap." };
  t.same(replayed(await post(place.ada, notes, note, "one")), [200, undefined]);
  const twice = await post(place.ada, notes, note, "one");
  t.same(replayed(twice), [200, "true"]);
  t.match(twice.body?.notes, [{ text: "Mind the gap." }]);
  t.match(twice.body?.notes, { length: 1 });
  t.equal(toSlug(await post(place.ada, notes, { text: "Look up." }, "one")), "idempotency-key-reused");

  const peer = await place.runner();
  peer.end(await peer.job(), { ending: { kind: "ask", question: "Red or blue?" } });
  await place.when(`task/${taskId}`, async () => (await place.task(taskId)).state === "inbox");
  const path = `/api/tasks/${taskId}/answer`;
  t.same(replayed(await post(place.ada, path, { text: "Blue." }, "one")), [200, undefined], "a key is of its route");
  await peer.job();
  const again = await post(place.ada, path, { text: "Blue." }, "one");
  t.same([replayed(again), again.body?.state], [[200, "true"], "queued"]);
  t.equal((await post(place.ada, path, { text: "Blue." })).status, 409, "without it nothing is asked now");
  t.equal((await place.runs(taskId)).length, 2);
});

t.test("an approval is answered once under a key, and a repeat is told how", async (t) => {
  const place = await openWorkplace(t);
  const taskId = await place.open();
  const peer = await place.runner();
  const job = await peer.job();
  peer.start(job);
  peer.askPermission(job);
  await place.when(`task/${taskId}`, async () => (await place.task(taskId)).state === "inbox");
  const [open] = (await place.task(taskId)).approvals as readonly { readonly id: string }[];
  const path = `/api/runs/${job.runId}/approvals/${open?.id}`;
  const first = await post(place.ada, `${path}/edit`, { inputs: { command: "ls -a" } }, "one");
  t.same(replayed(first), [200, undefined]);
  const again = await post(place.ada, `${path}/edit`, { inputs: { command: "ls -a" } }, "one");
  t.same([replayed(again), again.body], [[200, "true"], first.body]);
  t.equal(toSlug(await post(place.ada, `${path}/edit`, { inputs: {} }, "one")), "idempotency-key-reused");
  t.equal((await post(place.ada, `${path}/dismiss`, {}, "one")).status, 409, "another answer");
  t.equal((await post(place.ada, `${path}/edit`, { inputs: { command: "ls -a" } })).status, 409);
  await peer.message("run.permission-answered");
  t.equal(peer.messages("run.permission-answered").length, 1);
});

t.test("every write to a task or a run takes a key", async (t) => {
  const { service } = await openWorkplace(t);
  const writes = toTables(service).routes.filter(
    ({ method, path }) => method !== "GET" && /^\/api\/(teams\/\{teamId\}\/tasks|tasks\/|runs\/)/.test(path),
  );
  t.ok(writes.length >= 12, `${writes.length} routes`);
  t.same(
    writes.filter(({ headers }) => headers?.["idempotency-key"] !== "optional").map(({ path }) => path),
    [],
  );
});
