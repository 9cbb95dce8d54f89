import { randomBytes } from "node:crypto";
import t, { type Test } from "tap";
import { toArchiveId } from "../../../actors/archives/archive.js";
import { CHUNK_BYTES } from "../../../actors/archives/pack.js";
import { buildJob } from "../../../actors/runs/job.js";
import { sha256Hex } from "../../../actors/sealer.js";
import { listChunks, makeCommit, toPack } from "../../actors/archives/archive-scene.js";
import { openReplayScene, openSet, type ReplayScene, workTask } from "../../support/replay-scene.js";
import type { RunnerPeer } from "../../support/runner-peer.js";
import type { Reply } from "../../support/service.js";

const repository = "acme/app";
const made = makeCommit({ "a.bin": randomBytes(CHUNK_BYTES + 100) });
const { commit } = made;
const archiveId = toArchiveId(repository, commit);
const at = `/api/runner/archives/${archiveId}`;

/** A scene with a set that holds one run. The run started from the commit of `made`. */
interface Scene extends ReplayScene {
  readonly set: string;
  readonly runId: string;
  /** Reads the run's entry in the set. */
  entry(): Promise<Readonly<Record<string, unknown>>>;
  /** Sends a request as the scene's runner. `headers` override the runner's own headers. */
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
}

async function openScene(t: Test, settings: Record<string, string> = {}): Promise<Scene> {
  const place = await openReplayScene(t, { settings });
  const { runId } = await workTask(place, { base: commit });
  const set = await openSet(place);
  const runnerId = await readId(place.peer);
  const entry = async () => {
    const { body } = await place.ada.request("GET", set);
    const [first = {}] = (body?.entries ?? []) as Record<string, unknown>[];
    return first;
  };
  const ask: Scene["ask"] = (method, path, body, headers = {}) =>
    place.service.withToken(place.token).request(method, path, body, { "service-runner": runnerId, ...headers });
  const added = await place.ada.request("POST", `${set}/entries`, { runId });
  if (added.status !== 204) throw new Error(added.text);
  return { ...place, set, runId, entry, ask };
}

const readId = async (peer: RunnerPeer) => (await peer.frame("welcome")).runnerId;

/** Takes the archive, offers the commit's pack and sends the chunks. Returns the statuses of the answers. */
async function send({ ask }: Pick<Scene, "ask">, bytes = made.bytes): Promise<readonly number[]> {
  const replies = [await ask("POST", at, { step: "take" }), await ask("POST", at, { step: "offer", ...toPack(bytes) })];
  for (const [n, chunk] of listChunks(bytes).entries()) replies.push(await putChunk({ ask }, n, chunk));
  return replies.map(({ status }) => status);
}

function putChunk({ ask }: Pick<Scene, "ask">, n: number, chunk: Buffer): Promise<Reply> {
  const headers = { "content-type": "application/octet-stream", "service-sha256": sha256Hex(chunk) };
  return ask("PUT", `${at}/chunks/${n}`, chunk, headers);
}

t.test(
  "a run that is added asks for its commit; what a runner sends is kept and served to who checks it out",
  async (t) => {
    const scene = await openScene(t);
    const { peer, entry, ask } = scene;
    t.same((await peer.frame("wanted")).commits, [{ archiveId, repository, commit, mayFetch: false }]);
    t.match(await entry(), { archive: "pending", replayable: true, refusal: null });
    t.same(await send(scene), [200, 200, 200, 200]);
    t.match(await entry(), { archive: "kept", replayable: true });
    t.equal((await putChunk(scene, 0, Buffer.alloc(CHUNK_BYTES))).status, 409, "nothing more is taken");
    t.same(await send(scene), [200, 200, 200, 200], "a runner that lost the answers is answered again");
    const metrics = await scene.service.anonymous.request("GET", "/metrics");
    t.match(metrics.text, /^signalbox_archives_total\{fate="kept"\} 1$/m);

    await scene.open({ title: "Again" });
    const first = await peer.job();
    t.notOk("archive" in (first.checkouts[0] ?? {}), "a job without a base has none");
    peer.say({ type: "run.started", runId: first.runId, fence: first.fence, bases: [{ repository, base: commit }] });
    await peer.arrived();
    const claim = { "service-run": first.runId, "service-run-fence": String(first.fence) };
    await scene.until(async () => (await ask("GET", `${at}/chunks/0`, undefined, claim)).status === 200);
    const chunks = [0, 1].map((n) => fetchChunk(scene, n, claim));
    t.same(Buffer.concat(await Promise.all(chunks)), made.bytes);
    for (const [name, headers] of [
      ["no claim", {}],
      ["an old fence", { ...claim, "service-run-fence": "99" }],
      ["a fence in another form", { ...claim, "service-run-fence": `${first.fence}e0` }],
      ["another's run", { ...claim, "service-run": scene.runId }],
      ["another runner", { ...claim, "service-runner": `runner_${"0".repeat(26)}` }],
    ] as const) {
      t.equal((await ask("GET", `${at}/chunks/0`, undefined, headers)).status, 404, name);
    }
    t.equal((await ask("GET", `${at}/chunks/2`, undefined, claim)).status, 404, "there are two");
    t.equal((await ask("GET", `${at}/chunks/00`, undefined, claim)).status, 404, "the first is 0");
  },
);

async function fetchChunk({ service, token, peer }: Scene, n: number, claim: Record<string, string>): Promise<Buffer> {
  const headers = { authorization: `Bearer ${token}`, "service-runner": await readId(peer), ...claim };
  const answer = await fetch(`${service.baseUrl}${at}/chunks/${n}`, { headers });
  return Buffer.from(await answer.arrayBuffer());
}

t.test("a run that begins from a kept commit gets a job that names the pack", async (t) => {
  const scene = await openScene(t);
  await send(scene);
  const { peer } = scene;
  await scene.open({ title: "Go on" });
  const { runId, fence } = await peer.job();
  peer.say({ type: "run.started", runId, fence, bases: [{ repository, base: commit }] });
  const source = { reading: scene.service.runtime.reading, sealer: { open: () => "" } };
  const checkouts = () => buildJob(source, scene.workspaceId, { runId, fence })?.checkouts[0];
  await scene.until(async () => checkouts()?.base === commit);
  const { bytes, digest } = toPack(made.bytes);
  t.match(checkouts(), { repository, archive: { id: archiveId, bytes, digest } });
});

t.test("callers that are no runners of the workspace learn nothing", async (t) => {
  const scene = await openScene(t);
  const { ask, service } = scene;
  const take = { step: "take" };
  t.equal((await service.anonymous.request("POST", at, take)).status, 401);
  t.equal((await scene.ada.request("POST", at, take)).status, 401);
  t.equal((await service.withToken("wrong").request("POST", at, take)).status, 401);
  t.equal((await ask("POST", "/api/runner/archives/arc_absent", take)).status, 404);
  t.equal((await ask("POST", at, take, { "service-runner": "" })).status, 404);
  t.equal((await ask("POST", at, { step: "dance" })).status, 422);
  t.equal((await ask("PUT", `${at}/chunks/x`, Buffer.from("x"), { "service-sha256": "" })).status, 404);
  const wrong = { "content-type": "application/octet-stream", "service-sha256": sha256Hex("other") };
  t.equal(
    (await ask("PUT", `${at}/chunks/0`, Buffer.from("x"), wrong)).status,
    400,
    "a chunk that is not what was sent",
  );
  t.equal((await ask("PUT", `${at}/chunks/0`, Buffer.alloc(CHUNK_BYTES + 1), wrong)).status, 413);
});

t.test("a workspace's archives have a bound; what is let go of gives its room back", async (t) => {
  const scene = await openScene(t, { ARCHIVE_MIB_PER_WORKSPACE: "0" });
  const { ask, ada, set, runId } = scene;
  await ask("POST", at, { step: "take" });
  const refused = await ask("POST", at, { step: "offer", ...toPack(made.bytes) });
  t.match(refused, { status: 409, body: { detail: /cannot store/ } });
  t.match(await scene.entry(), { archive: "pending", replayable: true });
  t.equal((await ada.request("DELETE", `${set}/entries/${runId}`)).status, 204);
  await scene.until(async () => (await ask("POST", at, { step: "take" })).status === 404);
});

t.test("while a branch holds the commit nothing is kept, and a commit that is too large is refused", async (t) => {
  const scene = await openScene(t);
  const { ask, entry } = scene;
  await ask("POST", at, { step: "take" });
  t.equal((await ask("POST", at, { step: "report", found: "on-branch" })).status, 200);
  t.match(await entry(), { archive: null, replayable: true });
  await ask("POST", at, { step: "take" });
  t.equal((await ask("POST", at, { step: "report", found: "too-large" })).status, 200);
  t.match(await entry(), { archive: null, replayable: false, refusal: { code: "archive-too-large" } });
});

t.test("a runner that connects is told what is wanted, and which of its commits no run needs", async (t) => {
  const scene = await openScene(t);
  const peer = await scene.runner();
  t.same((await peer.frame("wanted")).commits, [{ archiveId, repository, commit, mayFetch: false }]);
  const unknown = { repository, commit: made.parent };
  peer.post({ frame: "kept", commits: [{ repository, commit }, unknown, { repository: "acme/other", commit }] });
  t.same((await peer.frame("released")).commits, [unknown, { repository: "acme/other", commit }]);
  const old = await scene.runner({ features: ["bases"] });
  await old.beat();
  t.notOk(
    old.frames.some(({ frame }) => frame === "wanted"),
    "one of an earlier release is told nothing",
  );
});
