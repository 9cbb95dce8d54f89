import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { until } from "../../../support/until.js";
import { RunScene } from "../run-scene.js";

/**
 * Tests agents that are MCP clients, as processes of a real runner. The agents connect over the bridge that the file in
 * `SIGNALBOX_MCP_CONFIG` names.
 */

const claim = { runId: "run_1", fence: 1 };
const TOOLS = [{ server: "tracker", name: "find", description: "Finds.", schema: { type: "object" } }];

/**
 * Returns the source of an agent program that runs `body`. In `body`, `client` connects to an MCP server from the file
 * in `SIGNALBOX_MCP_CONFIG`. `call` calls a tool and prints the result on one line.
 */
const AGENT = (body: string): string => `
import { readFileSync } from "node:fs";
import { Client as Later } from "${import.meta.resolve("@modelcontextprotocol/client")}";
import { StdioClientTransport as LaterStdio } from "${import.meta.resolve("@modelcontextprotocol/client/stdio")}";
import { Client as Earlier } from "${import.meta.resolve("@modelcontextprotocol/sdk/client/index.js")}";
import { StdioClientTransport as EarlierStdio } from "${import.meta.resolve("@modelcontextprotocol/sdk/client/stdio.js")}";
const { mcpServers } = JSON.parse(readFileSync(process.env.SIGNALBOX_MCP_CONFIG, "utf8"));
const client = async (Client, Stdio, server) => {
  const made = new Client({ name: "agent", version: "1" });
  await made.connect(new Stdio({ ...mcpServers[server], stderr: "inherit" }));
  return made;
};
const textOf = ({ content, isError }) => (isError ? "error: " : "") + content.map(({ text }) => text).join("");
const call = async (of, name, inputs) => {
  const text = textOf(await of.callTool({ name, arguments: inputs }));
  return text.includes("Call again") ? call(of, name, inputs) : console.log(text);
};
${body}
`;

function agent(t: Test, scene: RunScene, body: string): string {
  const path = join(scene.folder, `${t.name.replace(/\W+/g, "-").slice(0, 40)}.mjs`);
  writeFileSync(path, AGENT(body));
  return `exec '${process.execPath}' '${path}'`;
}

/** Resolves when the runner has acknowledged the service's message `n`. */
const acknowledged = (scene: RunScene, n: number) =>
  scene.service.until(() => scene.service.arrived.find(({ frame }) => frame.frame === "ack" && frame.ack === n));

t.test(
  "both clients call a tool over the bridge; what the service says while it is away waits, and comes once",
  async (t) => {
    const scene = await RunScene.start(t);
    const body = `
const [later, earlier] = await Promise.all([client(Later, LaterStdio, "tracker"), client(Earlier, EarlierStdio, "tracker")]);
await call(later, "find", { id: 1 });
await call(earlier, "find", { id: 2 });
await later.close();
await earlier.close();`;
    scene.assign({ agent: agent(t, scene, body), tools: TOOLS, timeoutMinutes: 1 });
    const first = await scene.message("run.tool-call");
    t.same(first, { type: "run.tool-call", ...claim, id: "1-1", server: "tracker", tool: "find", inputs: '{"id":1}' });
    scene.service.tell({
      type: "run.tool-waiting",
      ...claim,
      id: "1-1",
      callId: "call_1",
      for: "the assignee's approval",
    });
    await acknowledged(scene, 2);
    scene.service.cut();
    await until("the runner is told", () => scene.said.some((line) => line === "lost the service, retrying"));
    scene.clock.advance(3_600_000);
    await scene.service.frame("hello", () => true, 2);
    scene.service.welcome({ leaseSeconds: 86_400, features: ["tools"] });
    await scene.service.until(() => scene.service.messages(2).find(({ message }) => message.type === "run.tool-call"));
    scene.service.tell({
      type: "run.tool-answered",
      ...claim,
      id: "1-1",
      outcome: "done",
      text: "one",
      callId: "call_1",
    });
    const second = await scene.message("run.tool-call", ({ id }) => id === "1-2");
    t.equal(second.inputs, '{"id":2}');
    scene.service.tell({
      type: "run.tool-answered",
      ...claim,
      id: "1-2",
      outcome: "failed",
      text: "two",
      callId: null,
    });
    t.match(await scene.message("run.ended"), { outcome: "completed" });
    t.same(scene.steps(), ["output: one", "output: error: two"]);
    t.same(scene.messages("run.tool-cancelled"), []);
  },
);

t.test("a stop ends the wait: the call is given up, and the station's timeout counts again after a wait", async (t) => {
  const scene = await RunScene.start(t);
  const body = `
const earlier = await client(Earlier, EarlierStdio, "tracker");
process.on("SIGTERM", () => undefined);
await call(earlier, "find", { id: 1 }).catch(() => undefined);
setInterval(() => undefined, 1_000);`;
  scene.assign({ agent: agent(t, scene, body), tools: TOOLS, timeoutMinutes: 1 });
  await scene.message("run.tool-call");
  const about = { ...claim, id: "1-1", callId: "call_1" };
  scene.service.tell({ type: "run.tool-waiting", ...about, for: "the assignee's approval" });
  await acknowledged(scene, 2);
  scene.clock.advance(3_600_000);
  scene.service.tell({ type: "run.tool-waiting", ...about, for: null });
  await acknowledged(scene, 3);
  scene.clock.advance(59_999);
  t.same(scene.messages("run.tool-cancelled"), []);
  scene.clock.advance(1);
  t.match(await scene.message("run.tool-cancelled"), { id: "1-1" });
  scene.clock.advance(5_000);
  t.match(await scene.message("run.ended"), { outcome: "failed", failure: { code: "timed-out" } });
});
