import t from "tap";
import { hook, hookScene, ok } from "../../support/hook-scene.js";
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
