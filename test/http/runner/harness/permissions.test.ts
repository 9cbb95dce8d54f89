import t from "tap";
import type { ServiceMessage } from "../../../../actors/runners/protocol.js";
import { RunScene } from "../run-scene.js";

/** An agent's requests for approval, on their way to the service and back. */

const claim = { runId: "run_1", fence: 1 };
const say = (line: Record<string, unknown>): string => `printf '%s\\n' '${JSON.stringify(line)}'`;
const ask = (id: string, more: Record<string, unknown> = {}): string =>
  say({ type: "permission", id, tool: "shell", inputs: { command: "ls" }, reason: "To look.", ...more });
const read = `read -r line; printf '%s\\n' "$line"`;
const answer = (
  id: string,
  more: { verdict?: "approved" | "dismissed"; inputs?: string; reason?: string } = {},
): ServiceMessage => ({
  type: "run.permission-answered",
  ...claim,
  id,
  verdict: "approved",
  inputs: null,
  reason: null,
  ...more,
});

t.test("an agent asks and waits; each answer comes under the id it asked with, in any order", async (t) => {
  const scene = await RunScene.start(t);
  scene.assign({ agent: `${ask("a")}; ${ask("b")}; ${ask("c")}; ${read}; ${read}; ${read}` });
  const asked = await scene.message("run.permission", () => scene.messages("run.permission").length === 3);
  t.same(asked, {
    type: "run.permission",
    ...claim,
    id: "1-1",
    tool: "shell",
    inputs: '{"command":"ls"}',
    reason: "To look.",
  });
  scene.service.tell(answer("1-3", { verdict: "dismissed", reason: "No." }));
  scene.service.tell(answer("1-1"));
  scene.service.tell(answer("1-1", { verdict: "dismissed" }));
  scene.service.tell(answer("1-2", { inputs: '{"command":"ls -l"}' }));
  t.equal((await scene.message("run.ended")).outcome, "completed");
  t.same(
    scene.steps().map((step) => JSON.parse(step.slice("output: ".length))),
    [
      { type: "permission.dismissed", id: "c", reason: "No." },
      { type: "permission.approved", id: "a", inputs: { command: "ls" }, edited: false },
      { type: "permission.approved", id: "b", inputs: { command: "ls -l" }, edited: true },
    ],
  );
});

t.test(
  "secrets are taken out of what is asked, and are there again in what was approved as it was asked",
  async (t) => {
    const scene = await RunScene.start(t);
    const inputs = { headers: [{ "x-s3cr3t-value": "Bearer s3cr3t-value" }] };
    const wish = ask("a", { tool: "s3cr3t-value", inputs, reason: "has s3cr3t-value" });
    const check = 'case "$line" in *"Bearer s3cr3t-value"*) echo whole;; esac';
    scene.assign({ agent: `${wish}; read -r line; ${check}`, harness: { secrets: { KEY: "s3cr3t-value" } } });
    const asked = await scene.message("run.permission");
    t.match(asked, {
      tool: "***",
      reason: "has ***",
      inputs: JSON.stringify({ headers: [{ "x-***": "Bearer ***" }] }),
    });
    scene.service.tell(answer("1-1"));
    await scene.message("run.ended");
    t.same(scene.steps(), ["output: whole"]);
  },
);

t.test("what is no request is dismissed with what was wrong about it", async (t) => {
  const scene = await RunScene.start(t);
  await scene.work({ agent: `${ask("a", { tool: "" })}; ${read}; ${say({ type: "permission", tool: "shell" })}` });
  t.match(scene.steps(), [
    /^error: cannot parse the agent's line of type permission: tool/,
    /^output: {"type":"permission.dismissed","id":"a","reason":".*tool/,
    /^error: cannot parse the agent's line of type permission: id/,
  ]);
  t.same(scene.messages("run.permission"), []);
});

t.test("a service of an earlier release is not asked: the agent is told so", async (t) => {
  const scene = await RunScene.start(t, { features: ["messages"] });
  await scene.work({ agent: `${ask("a")}; ${read}` });
  t.match(scene.steps(), [/permission.dismissed.*does not support permission requests/]);
  t.same(scene.messages("run.permission"), []);
});

t.test("a run that waits for leave is ended by its timeout, and by a stop", async (t) => {
  const scene = await RunScene.start(t);
  scene.assign({ agent: `${ask("a")}; ${read}`, timeoutMinutes: 1 });
  await scene.message("run.permission");
  scene.clock.advance(61_000);
  t.match(await scene.message("run.ended"), { outcome: "failed", failure: { code: "timed-out" } });
  scene.assign({ runId: "run_2", agent: `${ask("a")}; ${read}` });
  await scene.message("run.permission", ({ runId }) => runId === "run_2");
  scene.service.tell({ type: "run.stop", runId: "run_2", fence: 1, reason: "enough" });
  t.match(await scene.message("run.ended", ({ runId }) => runId === "run_2"), { outcome: "stopped" });
});

t.test("whole numbers beyond 2^53 of inputs keep their digits, on both ways", async (t) => {
  const scene = await RunScene.start(t);
  const numbers = ["9007199254740993", "-9007199254740993", "18446744073709551617", "-18446744073709551617"];
  const asks = numbers.map(
    (digits, index) =>
      `printf '%s\\n' '{"type":"permission","id":"${index}","tool":"close","inputs":{"id":${digits}}}'`,
  );
  scene.assign({ agent: `${asks.join("; ")}; ${numbers.map(() => read).join("; ")}` });
  await scene.message("run.permission", () => scene.messages("run.permission").length === numbers.length);
  t.same(
    scene.messages("run.permission").map(({ inputs }) => inputs),
    numbers.map((digits) => `{"id":${digits}}`),
  );
  const [, second = ""] = numbers;
  scene.service.tell(answer("1-1"));
  scene.service.tell(answer("1-2", { inputs: `{"id":${second}1}` }));
  scene.service.tell(answer("1-3"));
  scene.service.tell(answer("1-4"));
  await scene.message("run.ended");
  const got = scene.steps().map((step) => /"inputs":\{"id":(-?\d+)\}/.exec(step)?.[1]);
  t.same(got, [numbers[0], `${second}1`, numbers[2], numbers[3]]);
});
