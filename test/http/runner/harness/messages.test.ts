import { writeFileSync } from "node:fs";
import t from "tap";
import { RunScene, readFile } from "../run-scene.js";

/** People's messages to a run, on their way from the service to the agent's standard input. */

const claim = { runId: "run_1", fence: 1 };
const message = (n: number, text: string) =>
  ({ type: "run.message", ...claim, n, from: "person usr_1", text }) as const;

t.test("messages come on standard input, a JSON line each, in order and once", async (t) => {
  const scene = await RunScene.start(t);
  scene.assign({ agent: 'for i in 1 2 3; do read -r line; printf "%s\\n" "$line"; done' });
  await scene.message("run.started");
  scene.service.tell(message(1, "Use blue."));
  scene.service.tell(message(2, "two\nlines"));
  scene.service.tell(message(2, "two\nlines"));
  scene.service.tell({ ...message(1, "of another claim"), fence: 7 });
  scene.service.tell(message(3, "the last"));
  await scene.message("run.ended");
  const line = (text: string) => `output: ${JSON.stringify({ type: "message", from: "person usr_1", text })}`;
  t.same(scene.steps(), [line("Use blue."), line("two\nlines"), line("the last")]);
  t.same(
    scene.messages("run.heard").map(({ n, fence }) => `${n} of ${fence}`),
    ["1 of 1", "2 of 1", "3 of 1"],
  );
});

t.test("what is said before there is an agent waits for it", async (t) => {
  const scene = await RunScene.start(t);
  const setup = `echo on > ${scene.path("on")}; until [ -f ${scene.path("go")} ]; do sleep 0.02; done`;
  scene.assign({ agent: 'read -r line; printf "%s\\n" "$line"', checkouts: [{ setup }] });
  await readFile(scene.path("on"));
  scene.service.tell(message(1, "early"));
  scene.service.tell({ type: "run.handover-answered", ...claim, id: "nothing asked", refused: null });
  await scene.service.until(() => scene.service.arrived.find(({ frame }) => frame.frame === "ack" && frame.ack === 3));
  t.same(scene.messages("run.heard"), []);
  writeFileSync(scene.path("go"), "");
  await scene.message("run.ended");
  t.match(scene.steps(), [/early/]);
  t.match(scene.messages("run.heard"), [{ n: 1 }]);
});

t.test("an agent that reads nothing goes on, is not waited for, and is not said to have heard", async (t) => {
  const scene = await RunScene.start(t);
  const long = "x".repeat(20_000);
  scene.assign({ agent: `until [ -f ${scene.path("go")} ]; do sleep 0.02; done; seq 100; exit 0` });
  await scene.message("run.started");
  for (let n = 1; n <= 50; n++) scene.service.tell(message(n, long));
  await scene.service.until(() => scene.service.arrived.find(({ frame }) => frame.frame === "ack" && frame.ack === 51));
  writeFileSync(scene.path("go"), "");
  t.equal((await scene.message("run.ended")).outcome, "completed");
  t.equal(scene.steps().length, 100);
  t.ok(scene.messages("run.heard").length < 50, "a pipe holds 64 KiB");
});

t.test("an agent that closes its standard input goes on, and has heard nothing", async (t) => {
  const scene = await RunScene.start(t);
  scene.assign({ agent: `exec 0<&-; echo closed; until [ -f ${scene.path("go")} ]; do sleep 0.02; done; echo on` });
  await scene.message("run.step");
  for (const n of [1, 2]) scene.service.tell(message(n, "anybody there?"));
  await scene.service.until(() => scene.service.arrived.find(({ frame }) => frame.frame === "ack" && frame.ack === 3));
  writeFileSync(scene.path("go"), "");
  t.equal((await scene.message("run.ended")).outcome, "completed");
  t.same(scene.steps(), ["output: closed", "output: on"]);
  t.same(scene.messages("run.heard"), []);
});

t.test("a handover is answered between what people say", async (t) => {
  const scene = await RunScene.start(t);
  const handover = JSON.stringify({ type: "handover", to: "review", note: "" });
  scene.assign({
    agent: `echo '${handover}'; while read -r line; do echo "$line"; case "$line" in *handover*) exit 0;; esac; done`,
  });
  await scene.message("run.handover");
  scene.service.tell(message(1, "one thing more"));
  await scene.message("run.heard");
  await scene.answerHandover(0, null);
  t.match(await scene.message("run.ended"), { ending: { kind: "handover", to: "review" } });
  t.match(scene.steps(), [/one thing more/, /handover.accepted/]);
});
