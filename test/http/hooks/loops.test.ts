import { createHmac } from "node:crypto";
import t, { type Test } from "tap";
import { hook, hookScene, ok } from "../../support/hook-scene.js";
import { expr } from "../../support/integration.js";
import { until } from "../../support/until.js";

interface Noted {
  readonly notes: readonly { readonly from: string; readonly text: string }[];
}

t.test(
  "what a receiver does in the name of a hook joins its chain, and the hook is stopped before it goes round",
  async (t) => {
    const { addHook, openTask, receiver, owner, firings } = await hookScene(t, ok);
    await addHook(hook(receiver.url, { key: "bounce", on: "task.moved" }));
    const taskId = await openTask();
    const move = (to: string, headers: Record<string, string> = {}) =>
      owner.request("POST", `/api/tasks/${taskId}/move`, { to }, headers);
    await move("review");
    const [first] = await receiver.arrived(1);
    t.equal(first?.headers["service-cause"], undefined, "nothing but a person caused it");
    await move("work", { "service-cause": String(first?.headers["webhook-id"]) });
    const stopped = async () => (await firings()).find(({ code }) => code === "loop");
    await until("the hook to be stopped", stopped);
    t.match(await stopped(), { state: "failed", attempts: { length: 0 }, reason: /caused itself/ });
    const task = (await owner.request("GET", `/api/tasks/${taskId}`)).body as unknown as Noted;
    t.match(task.notes, [{ from: "hook bounce", text: /stopped \(loop\)/ }]);
    await move("review");
    await receiver.arrived(2);
    t.equal(receiver.requests.length, 2, "what a person does next is no part of the chain");
  },
);

t.test("a task that opens a task that opens a task ends at eight causes", async (t) => {
  const { addHook, openTask, receiver, owner, teamId, firings } = await hookScene(t, ok);
  await addHook(hook(receiver.url));
  await openTask();
  for (let count = 1; count <= 4; count++) {
    const request = (await receiver.arrived(count))[count - 1];
    const headers = { "service-cause": String(request?.headers["webhook-id"]) };
    await owner.request("POST", `/api/teams/${teamId}/tasks`, { title: "Next", line: "dev" }, headers);
  }
  const stopped = async () => (await firings()).find(({ code }) => code === "loop");
  await until("the hook to be stopped", stopped);
  t.match(await stopped(), { reason: /8 causes deep/ });
  t.equal(receiver.requests.length, 4);
  const [first, second] = receiver.requests;
  const webhookId = String(first?.headers["webhook-id"]);
  t.match(second?.headers["service-cause"], /^occ_/, "the firing that caused it");
  t.ok(webhookId.includes(String(second?.headers["service-cause"]).replace("occ_", "")));
});

t.test("a run belongs to the chain of its task's command", async (t) => {
  const { addHook, openTask, receiver, owner } = await hookScene(t, ok);
  await addHook(hook(receiver.url, { key: "opened" }));
  await addHook(hook(receiver.url, { key: "ended", on: "run.ended" }));
  const taskId = await openTask();
  const [opened] = await receiver.arrived(1);
  const cause = String(opened?.headers["webhook-id"]);
  await owner.request("POST", `/api/tasks/${taskId}/close`, {}, { "service-cause": cause });
  const [, ended] = await receiver.arrived(2);
  t.equal(ended?.headers["service-hook"], "ended");
  t.ok(cause.includes(String(ended?.headers["service-cause"]).replace("occ_", "")));
});

const raising = {
  verify: { hmac: { secret: "tracker-key", header: "X-Signature", prefix: "sha256=" } },
  events: [{ raise: { say: expr("body.title"), opens: { line: "dev", title: expr("body.title") } } }],
};

/** Opens a receiver of `task.opened`, and an integration of the team whose deliveries open tasks. */
async function deliveringScene(t: Test) {
  const made = await hookScene(t, ok);
  const { owner, service, workspaceId, teamId, receiver, addHook } = made;
  const secret = { name: "tracker-key", value: "a key that its sender has, too", valueVersion: 1 };
  await owner.create(`/api/resources/workspaces/${workspaceId}/secrets`, secret);
  const integration = await owner.create(`/api/resources/teams/${teamId}/integrations`, {
    integration: "tracker",
    name: "Tracker",
    webhook: raising,
  });
  await addHook(hook(receiver.url));
  const deliver = async (n: number, headers: Record<string, string>): Promise<void> => {
    const text = JSON.stringify({ title: `Task ${n}` });
    const signature = `sha256=${createHmac("sha256", secret.value).update(text).digest("hex")}`;
    const at = `/api/integrations/${integration.id}/deliveries`;
    const { status } = await service.anonymous.request("POST", at, text, { "x-signature": signature, ...headers });
    if (status !== 202) throw new Error(`a delivery was answered ${status}`);
  };
  return { ...made, deliver };
}

type Sent = Readonly<Record<string, string | string[] | undefined>>;

t.test("a receiver that sends an id back with its deliveries is stopped within 8 rounds", async (t) => {
  const ways: Readonly<Record<string, (sent: Sent) => Record<string, string>>> = {
    "service-cause": (sent) => ({ "service-cause": String(sent["service-cause"] ?? sent["webhook-id"]) }),
    "webhook-id as service-cause": (sent) => ({ "service-cause": String(sent["webhook-id"]) }),
    "both as they came": (sent) => ({
      "webhook-id": String(sent["webhook-id"]),
      ...(sent["service-cause"] !== undefined && { "service-cause": String(sent["service-cause"]) }),
    }),
  };
  for (const [way, toHeaders] of Object.entries(ways)) {
    const { openTask, receiver, firings, deliver } = await deliveringScene(t);
    await openTask();
    const stopped = async () => (await firings()).find(({ code }) => code === "loop");
    for (let round = 1; round < 8 && (await stopped()) === undefined; round++) {
      await deliver(round, toHeaders((await receiver.arrived(round))[round - 1]?.headers ?? {}));
      await until("the next firing", async () => (await firings()).length > round);
    }
    t.match(await stopped(), { state: "failed", attempts: { length: 0 }, reason: /8 causes deep/ }, way);
    t.equal(receiver.requests[0]?.headers["service-cause"], undefined, "the first firing has no cause");
  }
});

t.test("twenty tasks that a receiver opens in answer to one firing are no loop", async (t) => {
  const { openTask, receiver, firings, deliver } = await deliveringScene(t);
  await openTask();
  const [first] = await receiver.arrived(1);
  await deliver(0, { "service-cause": String(first?.headers["webhook-id"]) });
  const [, second] = await receiver.arrived(2);
  for (let n = 1; n <= 20; n++) {
    const cause = n % 2 === 0 ? second?.headers["webhook-id"] : second?.headers["service-cause"];
    await deliver(n, { "service-cause": String(cause) });
  }
  await receiver.arrived(22);
  t.same(
    (await firings()).filter(({ code }) => code !== null),
    [],
  );
});
