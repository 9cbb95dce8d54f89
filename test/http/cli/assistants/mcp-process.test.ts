import t from "tap";
import { openCommandScene } from "../../../support/command-cases.js";
import { openSignalbox } from "../../../support/signalbox.js";
import { startProcess } from "./mcp-process.js";

t.test("the process of an assistant", async (t) => {
  const { signalbox, person, teamId } = await openCommandScene(t);
  await person.create(`/api/resources/teams/${teamId}/lines`, {
    key: "dev",
    name: "Dev",
    repositories: [{ name: "acme/app" }],
    stations: [{ key: "work", name: "Work", kind: "work" }],
  });
  const { child, out, log, logged, ended, connect } = startProcess(t, signalbox.home);

  await t.test("survives input that is no message", async (t) => {
    child.stdin.write(Buffer.from([0, 255, 254, 192, 128, 10]));
    child.stdin.write("\n\r\n{\n[]\nnull\n1\n{}\n");
    child.stdin.write(`${"[".repeat(200_000)}${"]".repeat(200_000)}\n`);
    child.stdin.write('{"jsonrpc":"2.0","method":"__proto__","params":{"__proto__":{"x":1}}}\n');
    child.stdin.write('{"jsonrpc":"1.0","id":{"a":1},"method":7}\n');
    await logged(/signalbox mcp: /);
    const assistant = await connect();
    t.match(await assistant.call("task_open", { title: "Fix it" }), { isError: false, text: /^Opened task_/ });
    t.match(await assistant.call("task_list"), { isError: false, data: { tasks: [{ station: "work" }] } });
    t.match(await assistant.call("task_show", { task: "\u0000\u001b[31m../../x\ud800" }), { isError: true });
    for (const name of ["__proto__", "constructor", "toString"]) await t.rejects(assistant.call(name), name);
  });

  await t.test("decides nothing unless it is allowed to", async (t) => {
    const assistant = await connect();
    const names = (await assistant.tools()).map(({ name }) => name);
    t.same(names, [
      ...["line_list", "task_open", "task_list", "task_show", "task_note"],
      ...["run_show", "run_diff", "run_logs", "approval_show", "inbox"],
    ]);
    for (const name of ["task_answer", "task_close", "run_approve"]) await t.rejects(assistant.call(name), name);
  });

  await t.test("writes only messages to standard output, and ends with the input", async (t) => {
    child.stdin.end();
    t.equal(await ended, 0);
    for (const line of out().trimEnd().split("\n")) t.match(JSON.parse(line), { jsonrpc: "2.0" });
    t.notMatch(log(), /^(?!signalbox mcp: ).+$/m);
  });
});

t.test("an assistant with a token opens work, and is told what needs a person", async (t) => {
  const { service, signalbox, person, workspaceId, teamId } = await openCommandScene(t);
  const stations = [{ key: "work", name: "Work", kind: "work" }];
  await person.create(`/api/resources/teams/${teamId}/lines`, { key: "dev", name: "Dev", stations });
  const path = `/api/resources/workspaces/${workspaceId}/tokens`;
  const made = await person.request("POST", path, { name: "ci", scopes: ["work"] }, { "idempotency-key": "1" });
  const token = made.headers["service-workspace-token"] ?? "";
  const args = ["--url", service.baseUrl, "--token", token, "--allow", "answer"];
  const { connect, out, log } = startProcess(t, signalbox.home, ...args);
  const assistant = await connect();
  const opened = await assistant.call("task_open", { title: `Use ${token}` });
  t.match(opened, { isError: false, data: { assignee: null, untrusted: { title: "Use [removed]" } } });
  t.match(await assistant.call("inbox"), { isError: false, text: /^0 items\. Waiting: 0 for the person/ });
  const refused = await assistant.call("task_answer", { task: opened.data.id, text: "Red." });
  t.match(refused, { isError: true, text: /status 401[\s\S]*start the assistant without a token\.$/ });
  t.notOk((out() + log()).includes(token));
});

t.test("a process ends at SIGTERM, and after a message that is too long", async (t) => {
  const { home } = openSignalbox(t);
  const [stopped, flooded] = [startProcess(t, home), startProcess(t, home)];
  t.match(await (await stopped.connect()).call("task_list"), { isError: true, text: /no service is configured/ });
  stopped.child.kill("SIGTERM");
  t.equal(await stopped.ended, 0);
  flooded.child.stdin.on("error", () => undefined);
  flooded.child.stdin.write("x".repeat(5 * 1024 * 1024));
  t.equal(await flooded.ended, 0);
  t.match(flooded.log(), /exceeded maximum size/);
});
