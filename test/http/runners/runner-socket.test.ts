import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import {
  MAX_FRAME_BYTES,
  RUNNER_FEATURES,
  RUNNER_PROTOCOL,
  type RunnerMessage,
} from "../../../actors/runners/protocol.js";
import type { WaitingPush } from "../../../actors/runners/push.js";
import { runnerRef } from "../../../actors/runners/runner.messages.js";
import { openLmdbStore } from "../../../storage/lmdb-store.js";
import { createMemoryStore } from "../../../storage/memory-store.js";
import type { Key, Reading, Store } from "../../../storage/store.js";
import { ManualClock } from "../../support/manual-clock.js";
import { RunnerPeer } from "../../support/runner-peer.js";
import { openWorkplace } from "../../support/workplace.js";

interface FaultyStore {
  readonly store: Store;
  readonly folder: string;
  /** Makes the next read of a row whose key contains this part fail, once. */
  failNext(part: string): void;
}

/** Opens a store whose disk can fail one read on request. */
async function openFaultyStore(t: Test): Promise<FaultyStore> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-faulty-"));
  const store = await openLmdbStore({ folder });
  t.teardown(async () => {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  });
  let failing: string | null = null;
  const reading: Reading = {
    get: <Value>(key: Key) => {
      if (failing !== null && key.includes(failing)) {
        failing = null;
        throw new Error("the disk cannot be read");
      }
      return store.reading.get<Value>(key);
    },
    range: (range) => store.reading.range(range),
  };
  const faulty: Store = {
    reading,
    commit: (changes) => store.commit(changes),
    view: () => store.view(),
    backup: (to) => store.backup(to),
    close: () => store.close(),
  };
  const failNext = (part: string): void => {
    failing = part;
  };
  return { store: faulty, folder, failNext };
}

const step = (claim: { runId: string; fence: number }, index: number): RunnerMessage => ({
  type: "run.step",
  runId: claim.runId,
  fence: claim.fence,
  step: { index, kind: "message", text: `step ${index}`, tool: null, spent: null },
});

async function begin(peer: RunnerPeer) {
  const { runId, fence } = await peer.job();
  peer.start({ runId, fence });
  await peer.taken(1);
  return { runId, fence };
}

for (const TRANSPORT of ["uws", "node"]) {
  t.test(
    `over ${TRANSPORT}, a message that came after one that failed is not taken, so that neither is lost`,
    async (t) => {
      const { store, folder, failNext } = await openFaultyStore(t);
      const place = await openWorkplace(t, { store, folder, settings: { TRANSPORT } });
      const taskId = await place.open();
      const peer = await place.runner();
      const claim = await begin(peer);
      // An actor that is in memory handles a message without a disk read.
      const other = { runId: "run_not_in_memory", fence: 1 };
      failNext(other.runId);
      peer.say(step(other, 0), 2);
      peer.say(step(claim, 0), 3);
      t.equal((await peer.closed()).code, 4503);
      const { runnerId } = await peer.frame("welcome");
      const again = await place.runner({ runnerId, received: 1, claims: [claim] });
      t.equal((await again.frame("welcome")).received, 1, "neither was taken");
      again.say(step(other, 0), 2);
      again.say(step(claim, 0), 3);
      again.say(step(claim, 1), 4);
      await again.taken(4);
      const [run] = await place.runs(taskId);
      const steps = await place.ada.request("GET", `/api/runs/${run?.id}/steps`);
      t.match(steps.body?.items, [{ text: "step 0" }, { text: "step 1" }]);
    },
  );
}

t.test("a run whose job no frame holds fails, and its runner goes on to the next", async (t) => {
  const place = await openWorkplace(t);
  const taskId = await place.open({ description: "x".repeat(50_000) });
  const peer = await place.runner();
  const claim = await begin(peer);
  t.equal(await peer.askHandover(claim, "review"), null);
  const diff = "y".repeat(MAX_FRAME_BYTES - 10_000);
  const checkouts = [{ repository: "acme/app", base: "a".repeat(40), diff }];
  const ending = { kind: "handover", to: "review", note: "" } as const;
  peer.end(claim, { ending, checkouts });
  await place.when(`task/${taskId}`, async () => (await place.task(taskId)).state === "inbox");
  t.match(await place.task(taskId), { station: "review", failure: { code: "not-supported", message: /too large/ } });
  t.equal((await peer.message("run.drop")).fence, 1, "in place of the job, it is told to drop the claim");
  await place.open();
  t.match(await peer.job(), { station: { key: "work" } }, "its slot is free");
});

t.test("an order to push is stored without a token, and says so where none can be made", async (t) => {
  const place = await openWorkplace(t);
  await place.open();
  const peer = await place.runner();
  const claim = await begin(peer);
  const { runnerId } = await peer.frame("welcome");
  const order: WaitingPush = {
    type: "run.push",
    ...claim,
    id: "pr_1-1",
    repository: "acme/app",
    wish: null,
    branch: "signalbox/1-fix",
    base: "main",
    title: "Fix",
    host: "code.example",
    installationId: 7,
    workflows: false,
  };
  const later = { type: "run.stop", ...claim, reason: "enough" } as const;
  const to = runnerRef(place.workspaceId, runnerId ?? "");
  for (const message of [order, later]) await place.service.runtime.ask(to, { type: "tell", message });
  const sent = await peer.message("run.push");
  const { host: _host, installationId: _installation, workflows: _workflows, ...told } = order;
  t.same(sent, { ...told, url: "", token: null, why: "No code host is configured on this service." });
  t.match(await peer.message("run.stop"), later, "what was told after it comes after it");
});

t.test("a raised concurrency places at once what waited for it", async (t) => {
  const place = await openWorkplace(t, { pool: { concurrency: 1 } });
  const peer = await place.runner({ slots: 2 });
  await place.open();
  const first = await peer.job();
  const second = await place.open();
  const [waiting] = await place.runs(second);
  t.same(waiting?.waiting, {
    reason: "No more runs at once are allowed of pool main: the concurrency of main is 1.",
  });
  const pool = await place.ada.request("GET", `/api/resources/runner-pools/${place.poolId}`);
  const changed = await place.ada.request(
    "PUT",
    `/api/resources/runner-pools/${place.poolId}`,
    { key: "main", concurrency: 2 },
    { "if-match": pool.headers.etag ?? "" },
  );
  t.equal(changed.status, 200);
  t.not((await peer.job()).runId, first.runId);
});

t.test("a runner of another pool cannot go by the id of this one's", async (t) => {
  const place = await openWorkplace(t);
  const taskId = await place.open();
  const peer = await place.runner();
  await begin(peer);
  const { runnerId } = await peer.frame("welcome");
  const pools = `/api/resources/workspaces/${place.workspaceId}/runner-pools`;
  const other = await place.ada.request("POST", pools, { key: "other" }, { "idempotency-key": "other" });
  const stranger = await RunnerPeer.join(place.service, String(other.headers["service-pool-token"]), {
    runnerId,
    instance: "another-instance-of-it",
  });
  t.teardown(async () => stranger.cut());
  t.not((await stranger.frame("welcome")).runnerId, runnerId);
  await peer.beat();
  t.match(await place.runs(taskId), [{ state: "running", runnerId }]);
});

t.test(
  "a runner of a later release is accepted with unknown members; one of another protocol is refused",
  async (t) => {
    const place = await openWorkplace(t);
    const taskId = await place.open();
    const later = { features: ["messages", "of a later release"], novelty: { of: "a later release" } };
    const peer = await place.runner(later);
    t.same((await peer.frame("welcome")).features, RUNNER_FEATURES);
    await begin(peer);
    t.match(await place.runs(taskId), [{ state: "running" }]);
    const other = await RunnerPeer.connect(place.service, place.token);
    t.teardown(async () => other.cut());
    other.hello({ protocol: RUNNER_PROTOCOL + 1 });
    t.match(await other.frame("error"), { message: `this service supports protocol ${RUNNER_PROTOCOL}` });
    t.equal((await other.closed()).code, 4400);
  },
);

/** Returns an in-memory store whose commits can be made to wait. */
function heldStore() {
  const store = createMemoryStore();
  let held: Promise<unknown> = Promise.resolve();
  const holding: Store = {
    ...store,
    commit: async (changes) => {
      await held;
      return store.commit(changes);
    },
  };
  const hold = (): (() => void) => {
    let release = () => {};
    held = new Promise<void>((resolve) => {
      release = resolve;
    });
    return () => release();
  };
  return { store: holding, hold };
}

for (const TRANSPORT of ["uws", "node"]) {
  t.test(`over ${TRANSPORT}, a runner that sends too far ahead loses its connection and nothing else`, async (t) => {
    const { store, hold } = heldStore();
    const place = await openWorkplace(t, { store, clock: new ManualClock(), settings: { TRANSPORT } });
    const taskId = await place.open();
    const peer = await place.runner();
    const { runnerId } = await peer.frame("welcome");
    const claim = await begin(peer);
    const release = hold();
    const last = 5_000;
    for (let n = 2; n <= last; n++) peer.say(step(claim, n - 2), n);
    await peer.arrived();
    release();
    t.match(await peer.frame("error"), { message: "too much was sent at once: try again" });
    t.equal((await peer.closed()).code, 4503);
    const again = await place.runner({ runnerId, claims: [claim] });
    const { received } = await again.frame("welcome");
    t.equal(received, 4_098, "the one that was being taken, and those that may wait");
    t.match(
      peer.frames.findLast(({ frame }) => frame === "ack"),
      { ack: received },
    );
    again.say(step(claim, received - 1), received + 1);
    await again.taken(received + 1);
    await place.until(async () => (await place.runs(taskId))[0]?.steps === received);
  });
}
