import t, { type Test } from "tap";
import { MAX_OPEN_PERMISSIONS } from "../../../actors/runners/protocol.js";
import { join } from "../../support/people.js";
import { toSlug } from "../../support/resources.js";
import type { RunnerPeer } from "../../support/runner-peer.js";
import type { Client, Reply } from "../../support/service.js";
import { StreamReader } from "../../support/stream-reader.js";
import { openWorkplace, type Workplace } from "../../support/workplace.js";

type Shown = Readonly<Record<string, unknown>>;
type Claim = Awaited<ReturnType<RunnerPeer["job"]>>;

interface Scene {
  readonly place: Workplace;
  readonly taskId: string;
  readonly peer: RunnerPeer;
  readonly job: Claim;
}

/** Opens a run whose agent requests approval for one call. */
async function begin(t: Test): Promise<Scene> {
  const place = await openWorkplace(t);
  const taskId = await place.open();
  const peer = await place.runner();
  const job = await peer.job();
  peer.start(job);
  peer.askPermission(job);
  await waits(place, taskId, 1);
  return { place, taskId, peer, job };
}

const list = (value: unknown): Shown[] => value as Shown[];
/** Resolves once the task waits for approval of this many calls. */
const waits = (place: Workplace, taskId: string, count: number) =>
  place.when(`task/${taskId}`, async () => list((await place.task(taskId)).approvals).length === count);
const reaches = (place: Workplace, taskId: string, state: string) =>
  place.when(`task/${taskId}`, async () => (await place.task(taskId)).state === state);
const readOpen = async ({ place, taskId }: Scene) => {
  const ids = list((await place.task(taskId)).approvals).map(({ id }) => String(id));
  return ids[0] ?? "none";
};
const answer = (
  client: Client,
  { job }: Pick<Scene, "job">,
  id: string,
  how: string,
  body: unknown = {},
): Promise<Reply> => client.request("POST", `/api/runs/${job.runId}/approvals/${id}/${how}`, body);
const listApprovals = async ({ place, job }: Scene, query = "") =>
  list((await place.ada.request("GET", `/api/runs/${job.runId}/approvals${query}`)).body?.items);

t.test("a call that needs approval moves the task to its assignee's inbox, and is published", async (t) => {
  const scene = await begin(t);
  const { place, taskId, peer, job } = scene;
  const id = await readOpen(scene);
  t.match(await place.task(taskId), {
    state: "inbox",
    asks: "The agent asks for approval to use shell: To look.",
    runId: job.runId,
    approvals: [{ id, runId: job.runId, tool: "shell" }],
  });
  t.match(await place.runs(taskId), [{ state: "running" }]);
  const reader = await StreamReader.open(place.ada);
  t.teardown(async () => reader.end());
  reader.subscribe(`run/${job.runId}`);
  const open = { id, kind: "permission", tool: "shell", inputs: { command: "ls" }, reason: "To look.", state: "open" };
  t.match((await reader.until(() => true)).data, { approvals: [open] });
  peer.askPermission(job, { id: "1-2", tool: "net", reason: "" });
  t.match(await reader.until(({ data }) => data.type === "approval"), { data: { approval: { tool: "net" } } });
  await waits(place, taskId, 2);
  t.match((await place.task(taskId)).asks, /shell: To look\. \(1 more pending\)$/);
  t.match(await listApprovals(scene), [{ tool: "net" }, open], "newest first");
  t.match(await listApprovals(scene, "?limit=1"), [{ tool: "net" }]);
  t.match(await listApprovals(scene, `?before=${(await listApprovals(scene))[0]?.id}`), [open]);
});

t.test(
  "the assignee approves, edits and dismisses; the runner gets each answer once, and the run continues",
  async (t) => {
    const scene = await begin(t);
    const { place, taskId, peer, job } = scene;
    const { assignee } = await place.task(taskId);
    const approved = await answer(place.ada, scene, await readOpen(scene), "approve");
    t.match(approved, { status: 200, body: { state: "approved", edited: null, note: null, answeredBy: assignee } });
    await reaches(place, taskId, "running");
    t.match(await place.task(taskId), { asks: null, approvals: { length: 0 } });

    peer.askPermission(job, { id: "1-2" });
    await waits(place, taskId, 1);
    const inputs = { command: "ls -l", deep: { list: [1, null, "two"] } };
    const edited = await answer(place.ada, scene, await readOpen(scene), "edit", { inputs });
    t.match(edited.body, { state: "approved", inputs: { command: "ls" }, edited: inputs });

    peer.askPermission(job, { id: "1-3" });
    peer.askPermission(job, { id: "1-4" });
    await waits(place, taskId, 2);
    const dismissed = await answer(place.ada, scene, await readOpen(scene), "dismiss", { reason: "Not there." });
    t.match(dismissed.body, { state: "dismissed", note: "Not there." });
    await waits(place, taskId, 1);
    t.equal((await place.task(taskId)).state, "inbox", "one still waits");
    await answer(place.ada, scene, await readOpen(scene), "dismiss");
    await reaches(place, taskId, "running");

    peer.end(job, { ending: { kind: "ask", question: "What now?" } });
    await place.when(`task/${taskId}`, async () => (await place.task(taskId)).asks === "What now?");
    const claim = { runId: job.runId, fence: job.fence };
    t.same(peer.messages("run.permission-answered"), [
      { type: "run.permission-answered", ...claim, id: "1-1", verdict: "approved", inputs: null, reason: null },
      {
        type: "run.permission-answered",
        ...claim,
        id: "1-2",
        verdict: "approved",
        inputs: JSON.stringify(inputs),
        reason: null,
      },
      {
        type: "run.permission-answered",
        ...claim,
        id: "1-3",
        verdict: "dismissed",
        inputs: null,
        reason: "Not there.",
      },
      { type: "run.permission-answered", ...claim, id: "1-4", verdict: "dismissed", inputs: null, reason: null },
    ]);
  },
);

t.test("only the task's assignee answers, once; a stranger finds nothing", async (t) => {
  const scene = await begin(t);
  const { place, taskId } = scene;
  const id = await readOpen(scene);
  const colleague = await join(place.service, place.ada, "bob@example.com", { teams: [place.teamId] });
  const admin = await join(place.service, place.ada, "eve@example.com", { role: "admin" });
  const member = await join(place.service, place.ada, "may@example.com");
  const stranger = await place.service.signIn("out@example.com");
  const tokens = `/api/resources/workspaces/${place.workspaceId}/tokens`;
  const made = await place.ada.request(
    "POST",
    tokens,
    { name: "all", scopes: ["configure"] },
    { "idempotency-key": "t" },
  );
  const token = place.service.withToken(String(made.headers["service-workspace-token"]));
  for (const how of ["approve", "dismiss"]) {
    const by = async (client: Client) => {
      const { status, body } = await answer(client, scene, id, how);
      return `${status} ${body?.title}`;
    };
    t.equal(await by(colleague), "403 Not the assignee of the task");
    t.equal(await by(admin), "403 Not on the team");
    t.equal(await by(member), "404 Not found");
    t.equal(await by(stranger), "404 Not found");
    t.equal(await by(token), "401 A signed-in user is required");
  }
  t.equal((await answer(place.ada, scene, "apr_unknown", "approve")).status, 404);
  t.equal((await answer(place.ada, scene, "x".repeat(3_000), "approve")).status, 404);
  const reads = async (client: Client) =>
    (await client.request("GET", `/api/runs/${scene.job.runId}/approvals`)).status;
  t.same([await reads(token), await reads(admin), await reads(member)], [200, 200, 404]);

  await place.ada.request("POST", `/api/tasks/${taskId}/assign`, { assignee: colleague.userId });
  t.equal((await answer(place.ada, scene, id, "approve")).status, 403, "it is the colleague's now");
  t.equal((await answer(colleague, scene, id, "approve")).status, 200);
  t.match(await answer(colleague, scene, id, "approve"), {
    status: 409,
    body: { detail: "It was approved by you already." },
  });
  t.match(await answer(colleague, scene, id, "dismiss"), { status: 409 });
  await place.ada.request("POST", `/api/tasks/${taskId}/assign`, { assignee: null });
  t.match((await answer(colleague, scene, id, "approve")).body, { detail: /has no assignee/ });
});

t.test("changed inputs are an object of some size and depth, a reason has some length", async (t) => {
  const scene = await begin(t);
  const id = await readOpen(scene);
  const deep = (levels: number): unknown => (levels === 0 ? 1 : { in: deep(levels - 1) });
  for (const inputs of [undefined, null, [], "ls", deep(33), { text: "x".repeat(65_536) }]) {
    const refused = await answer(scene.place.ada, scene, id, "edit", { inputs });
    t.match(refused, { status: 422, body: { errors: [{ path: "inputs" }] } }, JSON.stringify(inputs)?.slice(0, 40));
  }
  t.equal((await answer(scene.place.ada, scene, id, "dismiss", { reason: "x".repeat(2_001) })).status, 422);
  t.equal((await answer(scene.place.ada, scene, id, "approve", { inputs: {} })).status, 422, "that is an edit");
  t.equal((await answer(scene.place.ada, scene, id, "edit", { inputs: deep(32) })).status, 200);
});

t.test("a limited number of approvals may wait, and further ones are dismissed at once", async (t) => {
  const { place, taskId, peer, job } = await begin(t);
  for (let n = 2; n <= MAX_OPEN_PERMISSIONS + 1; n++) peer.askPermission(job, { id: `1-${n}` });
  const dismissed = await peer.message("run.permission-answered");
  t.match(dismissed, {
    id: `1-${MAX_OPEN_PERMISSIONS + 1}`,
    verdict: "dismissed",
    reason: /20 approvals of this run/,
  });
  await waits(place, taskId, MAX_OPEN_PERMISSIONS);
});

const ends: readonly (readonly [string, string, unknown, string])[] = [
  ["closed", "close", {}, "closed"],
  ["moved by hand", "move", { to: "review" }, "queued"],
];
for (const [name, action, body, state] of ends) {
  t.test(`a task that is ${name} while its run waits closes what is asked`, async (t) => {
    const scene = await begin(t);
    const { place, taskId, peer, job } = scene;
    const id = await readOpen(scene);
    t.equal((await place.ada.request("POST", `/api/tasks/${taskId}/${action}`, body)).status, 200);
    await peer.message("run.drop");
    await place.when(`run/${job.runId}`, async () => (await listApprovals(scene))[0]?.state === "closed");
    t.match(await answer(place.ada, scene, id, "approve"), {
      status: 409,
      body: { detail: /no longer waits .*The run is over/ },
    });
    t.match(await place.task(taskId), { state, asks: null, approvals: { length: 0 } });
  });
}

t.test("a run that ends while it waits closes its approvals", async (t) => {
  const scene = await begin(t);
  const { place, taskId, peer, job } = scene;
  peer.end(job, { ending: { kind: "finish", note: "I gave up." } });
  await place.when(`task/${taskId}`, async () => (await place.task(taskId)).asks === "I gave up.");
  t.match(await place.task(taskId), { state: "inbox", approvals: { length: 0 } });
  t.match(await listApprovals(scene), [{ state: "closed", note: "The run is over.", answeredBy: null }]);
  t.equal((await place.ada.request("POST", `/api/tasks/${taskId}/answer`, { text: "Try again." })).status, 200);
});

t.test("a run that is stopped while it waits closes its approvals, and later ones are dismissed", async (t) => {
  const scene = await begin(t);
  const { place, taskId, peer, job } = scene;
  const id = await readOpen(scene);
  t.equal(toSlug(await place.ada.request("POST", `/api/tasks/${taskId}/answer`, { text: "Yes." })), "conflict");
  t.equal(toSlug(await place.ada.request("POST", `/api/tasks/${taskId}/retry`, {})), "conflict");
  t.equal((await place.ada.request("POST", `/api/tasks/${taskId}/stop`, {})).status, 200);
  await peer.message("run.stop");
  await reaches(place, taskId, "running");
  t.match(await answer(place.ada, scene, id, "approve"), { status: 409, body: { detail: /The run is being stopped/ } });
  peer.askPermission(job, { id: "1-2" });
  t.match(await peer.message("run.permission-answered"), { id: "1-2", verdict: "dismissed", reason: /being stopped/ });
  peer.end(job, { outcome: "stopped" });
  await reaches(place, taskId, "inbox");
  t.match(await place.task(taskId), { asks: "The run was stopped.", approvals: { length: 0 } });
});

t.test("an answer waits for a runner that is away; one that is lost leaves nothing to answer", async (t) => {
  const scene = await begin(t);
  const { place, taskId, peer, job } = scene;
  const { runnerId } = await peer.frame("welcome");
  const received = Math.max(...peer.frames.map((frame) => (frame.frame === "message" ? frame.n : 0)));
  peer.cut();
  t.equal((await answer(place.ada, scene, await readOpen(scene), "approve")).status, 200);
  const { runId, fence } = job;
  const again = await place.runner({ runnerId, received, claims: [{ runId, fence }] });
  t.match(await again.message("run.permission-answered"), { id: "1-1", verdict: "approved" });
  again.say({ type: "run.permission", runId, fence, id: "1-2", tool: "net", inputs: "{}", reason: "" }, 3);
  await waits(place, taskId, 1);
  const id = await readOpen(scene);
  again.cut();
  const other = await place.runner({ runnerId, instance: "another-process-of-it" });
  t.not((await other.job()).runId, runId);
  t.match(await answer(place.ada, scene, id, "approve"), { status: 409, body: { detail: /no longer waits/ } });
  t.match(await place.task(taskId), { asks: null, approvals: { length: 0 } });
});
