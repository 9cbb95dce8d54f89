import t, { type Test } from "tap";
import { arrange, LONG_LEASE, listRuns, openTask, runner, type Setting, SHORT_LEASE, until } from "./work-setting.js";

/** An agent that requests approval, reports the answer, and ends. */
const asking = `
printf '%s\\n' '{"type":"permission","id":"look","tool":"shell","inputs":{"command":"ls"},"reason":"To look."}'
read -r line
printf '%s\\n' "$line"
`;

interface Asked {
  readonly runId: string;
  readonly id: string;
}

interface Scene {
  readonly setting: Setting;
  readonly taskId: string;
}

async function begin(t: Test, leaseSeconds: number): Promise<Scene> {
  const setting = await arrange(t, { agent: asking, leaseSeconds });
  return { setting, taskId: await openTask(setting) };
}

const findTask = async ({ setting, taskId }: Scene) =>
  (await setting.service.request("GET", `/api/tasks/${taskId}`, { headers: setting.cookie })).body;

/** Resolves with the task's pending approval when a run other than `than` requests approval. */
const asked = (scene: Scene, than = ""): Promise<Asked> =>
  until(async () => {
    const [first] = ((await findTask(scene))?.approvals ?? []) as Asked[];
    return first !== undefined && first.runId !== than && first;
  });

const answer = ({ setting }: Scene, { runId, id }: Asked, how: string, body: unknown = {}) =>
  setting.service.request("POST", `/api/runs/${runId}/approvals/${id}/${how}`, { body, headers: setting.cookie });

async function shown({ setting }: Scene, runId: string): Promise<string[]> {
  const steps = await setting.service.request("GET", `/api/runs/${runId}/steps`, { headers: setting.cookie });
  return ((steps.body?.items ?? []) as { readonly text: string }[]).map(({ text }) => text);
}

t.test("what is asked, and an answer that was acknowledged, live through kills of the service", async (t) => {
  const scene = await begin(t, LONG_LEASE);
  runner(t, scene.setting, "only");
  const before = await asked(scene);
  await scene.setting.restart();
  t.match(await asked(scene), before);
  t.match(await findTask(scene), { state: "inbox", asks: "The agent asks for approval to use shell: To look." });
  const inputs = { command: "ls -l" };
  t.equal((await answer(scene, before, "edit", { inputs })).status, 200);
  await scene.setting.restart();
  t.equal((await answer(scene, before, "edit", { inputs })).status, 409, "it was answered");
  await until(async () => (await findTask(scene))?.state === "done");
  const line = JSON.stringify({ type: "permission.approved", id: "look", inputs, edited: true });
  t.same(await shown(scene, before.runId), [line]);
});

t.test("a runner that is killed while it waits leaves nothing to answer; the next attempt asks anew", async (t) => {
  const scene = await begin(t, SHORT_LEASE);
  const first = runner(t, scene.setting, "first");
  const before = await asked(scene);
  await first.end("SIGKILL");
  runner(t, scene.setting, "second");
  const again = await asked(scene, before.runId);
  t.match(await answer(scene, before, "approve"), { status: 409, body: { detail: /no longer waits/ } });
  t.equal((await answer(scene, again, "dismiss", { reason: "No." })).status, 200);
  await until(async () => (await findTask(scene))?.state === "done");
  t.match(await shown(scene, again.runId), [/permission.dismissed.*"No\."/]);
  const outcomes = (await listRuns(scene.setting, scene.taskId)).map(({ outcome }) => outcome);
  t.same(outcomes, ["completed", "abandoned"]);
});
