import { Webhook } from "standardwebhooks";
import t from "tap";
import { testCommands } from "../../../support/command-cases.js";
import { openCommandHookScene } from "../../../support/command-hooks.js";
import { hookCases } from "./hooks-cases.js";

t.test("every command of hooks", async (t) => {
  const scene = await openCommandHookScene(t);
  await scene.addHook({ match: { lines: ["dev"] } });
  await scene.openTask();
  await testCommands(t, scene, hookCases);
});

t.test("why: the condition that did not match, and the values that it saw, without control characters", async (t) => {
  const { addHook, openTask, signalbox } = await openCommandHookScene(t);
  await addHook({ key: "fires" });
  await addHook({ key: "other-station", match: { stations: ["review"] } });
  await addHook({ key: "on-moves", on: "task.moved" });
  await addHook({ key: "when-false", when: "task.title == vars.wanted", vars: { wanted: "A\u001b[31mB" } });
  await addHook({ key: "when-fails", when: 'task.marks["size"] == "l"' });
  const taskId = await openTask();
  const { code, out } = await signalbox.run(["hook", "why", taskId.slice(0, -2), "--event", "task.opened"]);
  t.equal(code, 0);
  const rows = Object.fromEntries(out.split("\n").map((line) => [line.split(" ")[0], line]));
  t.match(rows.fires, /yes +delivered: occ_/);
  t.match(rows["other-station"], /no +stations must include one of review; the event has work/);
  t.match(rows["on-moves"], /no +it fires on task\.moved/);
  t.match(rows["when-false"], /no +when is false: task\.title == vars\.wanted with \{.*"title":"Do it"/);
  t.match(rows["when-fails"], /no +task\.marks\["size"\] == "l" failed: /);
  t.notOk(out.includes("\u001b"));
  const [firing] = /occ_\S+-\w+/.exec(out) ?? [];
  t.match(await signalbox.run(["hook", "why", String(firing)]), { code: 0, out: /^task\.opened of/ }, "by a firing");
  t.match(
    await signalbox.run(["hook", "why"]),
    { code: 0, out: /^task\.opened of/, err: `this is the latest event with a hook of the task ${taskId}` },
    "the task is remembered",
  );
  t.match(await signalbox.run(["hook", "why", "first!"]), {
    code: 1,
    err: /first! is not an event id, a firing id or a task id/,
  });
  t.match(await signalbox.run(["hook", "why", "occ_1"]), {
    code: 1,
    err: /the team core has no event occ_1: give a task/,
  });
});

t.test(
  "create: the receiver gets requests that the printed secret verifies, and the history has no secret",
  async (t) => {
    const { openTask, signalbox, receiver, service } = await openCommandHookScene(t);
    const { run } = signalbox;
    const args = ["hook", "create", "tell", "--event", "task.opened", "--receiver", receiver.url, "--line", "dev"];
    const { code, out, err } = await run([...args, "--when", 'task.title == "Do it"']);
    t.equal(code, 0, err);
    t.match(
      err,
      /^created the hook core\/tell: on task\.opened it sends a request to http:\S+, signed with this secret/,
    );
    t.notOk(err.includes(out), "only standard output has the secret");
    await openTask();
    const [request] = receiver.requests;
    t.doesNotThrow(() => new Webhook(out).verify(request?.text ?? "", request?.headers as Record<string, string>));
    const shown = [await run(["hook", "show", "tell", "--json"]), await run(["hook", "log", "--json"])];
    t.notOk(JSON.stringify([shown, service.logLines]).includes(out.slice(6)));
    t.match(await run(args), { code: 1, err: /core already has a hook tell: choose another key/ });
    t.match(await run([...args.slice(0, 2), "other", ...args.slice(3), "--line", "none"]), {
      code: 1,
      err: /^error: --line: .*none/,
    });
    t.match(await run([...args.slice(0, 2), "other", "--event", "task.moved", "--receiver", "http://192.0.2.1"]), {
      code: 1,
      err: /^error: --receiver: .*OUTBOUND_ALLOW/,
    });
    t.match(await run(["hook", "delete", "tell"]), { code: 64, err: /use --yes/ });
    t.match(await run(["hook", "delete", "tell"], { answers: ["n"] }), {
      code: 1,
      err: /^Delete the hook core\/tell, which fires on task\.opened\? \[y\/N\]\nthe hook was not deleted$/,
    });
    t.match(await run(["hook", "delete", "tell"], { answers: ["y"] }), { code: 0 });
    t.match(await run(["hook", "list"]), { err: /has no hooks/ });
  },
);

t.test("a task that is opened without a connected runner says that it waits for one", async (t) => {
  const { signalbox } = await openCommandHookScene(t);
  const { code, err } = await signalbox.run(["task", "open", "Wait"]);
  t.same(
    [code, err.split("\n")[0]],
    [0, "no runner is connected: the task waits for one (signalbox runner --help says how to start one)"],
  );
});

t.test("show: a beginning names a firing, a key a hook, and what does not exist is said", async (t) => {
  const { addHook, openTask, signalbox } = await openCommandHookScene(t);
  t.match(await signalbox.run(["hook", "show"]), { code: 1, err: /no hook of the team core has fired yet/ });
  t.match(await signalbox.run(["hook", "test"]), { code: 1, err: /the team core has no hook/ });
  t.match(await signalbox.run(["hook", "list"]), {
    code: 0,
    out: "",
    err: /the team core has no hooks: create one with signalbox hook create/,
  });
  await addHook({ key: "tell" });
  await addHook({ key: "tell-too" });
  await openTask();
  const { out } = await signalbox.run(["hook", "log", "--json"]);
  const { items } = JSON.parse(out) as { readonly items: readonly { readonly id: string; readonly hook: string }[] };
  const [first] = items;
  const id = String(first?.id);
  t.match(await signalbox.run(["hook", "show", id.slice(0, -2)]), { code: 0, out: id });
  t.match(await signalbox.run(["hook", "show", id.toLowerCase()]), { code: 0, out: id });
  t.match(await signalbox.run(["hook", "show", id.slice(0, 20)]), {
    code: 1,
    err: /occ_\w+ is ambiguous: it is the prefix of occ_/,
  });
  t.match(await signalbox.run(["hook", "show", "occ_7ZZ"]), { code: 1, err: /the team core has no firing occ_7ZZ/ });
  t.match(await signalbox.run(["hook", "show", "core/tell"]), { code: 0, out: /^hook +core\/tell\n/ });
  t.match(await signalbox.run(["hook", "show", "none"]), { code: 1, err: /has no hook none; it has: tell, tell-too/ });
  t.match(await signalbox.run(["hook", "test"]), {
    code: 1,
    err: /the team core has several hooks \(tell, tell-too\): name one/,
  });
  t.match(await signalbox.run(["hook", "log", "--limit", "1"]), { code: 0, err: /more results: use --limit/ });
});

t.test("resend: what failed is sent again, alone or with its period, and a failure is the exit code", async (t) => {
  let status = 404;
  const { addHook, openTask, signalbox, receiver } = await openCommandHookScene(t, (response) => {
    response.statusCode = status;
    response.end("no such channel\u001b[2J");
  });
  await addHook({ key: "tell" });
  await openTask("failed");
  const failed = await signalbox.run(["hook", "show"]);
  t.match(failed.out, /^tell: failed, .*404/);
  t.match(failed.out, /answer:\n {2}no such channel \[2J$/);
  t.match(await signalbox.run(["hook", "test", "tell"]), { code: 1, out: /^tell: failed/ });
  t.match(await signalbox.run(["hook", "resend"]), { code: 64, err: /give a firing, or a period with --from/ });
  status = 200;
  const before = receiver.requests.length;
  t.match(await signalbox.run(["hook", "resend", "--from", "1h", "--hook", "tell"]), {
    code: 0,
    out: "resending 1 failed firing, 20 per second",
  });
  await receiver.arrived(before + 1);
  t.match(await signalbox.run(["hook", "resend", "--from", "2h", "--to", "1h"]), {
    code: 0,
    out: "no firing of that period failed",
  });
});
