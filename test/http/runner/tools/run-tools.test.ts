import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import t, { type Test } from "tap";
import type { OfferedTool } from "../../../../actors/runners/job.js";
import { MAX_OPEN_TOOL_CALLS, type ToolCalled } from "../../../../actors/runners/run-tools.js";
import type { ServedTool } from "../../../../http/runner/tools/mcp-server.js";
import { RunTools } from "../../../../http/runner/tools/run-tools.js";
import { ToolCalls } from "../../../../http/runner/tools/tool-calls.js";
import { ManualClock } from "../../../support/manual-clock.js";
import { until } from "../../../support/until.js";
import { connectTo, earlierClient, laterClient, type ToolClient } from "./tool-clients.js";

const schema = { type: "object", properties: { id: { type: "integer" } }, required: ["id"] };
const TOOLS: readonly OfferedTool[] = [
  { server: "tracker", name: "find", description: "Finds an issue.", schema },
  { server: "tracker", name: "comment", description: "Says something.", schema: { type: "object" } },
  { server: "chat", name: "post", description: "Posts.", schema: { type: "object" } },
];

type Sent = Omit<ToolCalled, "runId" | "fence">;

/** Returns the tools of a run, on a runner whose service the test drives. */
async function begin(t: Test, { deep = "", own = [] as ServedTool[], tools = TOOLS } = {}) {
  const base = mkdtempSync(join(tmpdir(), "signalbox-tools-"));
  t.teardown(() => rmSync(base, { recursive: true, force: true }));
  mkdirSync(join(base, deep), { recursive: true });
  const at = join(base, deep, "tools");
  const folder = { tools: at, toolsConfig: join(at, "mcp.json") };
  const clock = new ManualClock();
  const [asked, cancelled]: [Sent[], string[]] = [[], []];
  const calls = new ToolCalls({
    prefix: "1",
    send: (message) => (message.type === "run.tool-call" ? asked.push(message) : cancelled.push(message.id)),
    paused: () => undefined,
  });
  const mask = (text: string) => text.replaceAll("s3cr3t", "***");
  const options = { folder, calls, own, clock, mask, room: () => Promise.resolve() };
  const opened = await RunTools.open({ tools: [...tools] }, options);
  t.teardown(() => opened.close());
  const config = JSON.parse(readFileSync(folder.toolsConfig, "utf8")).mcpServers;
  const toSocket = (server: string): string => config[server].args[1];
  const answer = (id: string, text: string) => calls.answered({ id, outcome: "done", text });
  const nth = (place: number) => until("a call", () => asked[place]);
  return { folder, clock, calls, asked, cancelled, opened, config, socketOf: toSocket, answer, nth };
}

const closing = (socket: Socket) => new Promise((resolve) => socket.once("close", resolve));

const CLIENTS: Readonly<Record<string, (t: Test, path: string) => Promise<ToolClient>>> = {
  "the later client": (t, path) => laterClient(t, path, "legacy"),
  "the later client, of the later protocol": (t, path) => laterClient(t, path, "auto"),
  "the earlier client": earlierClient,
};

for (const [name, connect] of Object.entries(CLIENTS)) {
  t.test(`${name} lists the tools, calls them, and gets progress while a person is asked`, async (t) => {
    const { socketOf: toSocket, calls, asked, nth } = await begin(t);
    const client = await connect(t, toSocket("tracker"));
    t.same(client.capabilities(), { tools: {} }, "the list never changes, and nothing is asked of the client");
    t.match(await client.listTools(), [{ name: "find", inputSchema: schema }, { name: "comment" }]);
    const progress: string[] = [];
    const found = client.call("find", { id: 7, note: "s3cr3t" }, { progress: (text) => progress.push(text) });
    t.same(await nth(0), {
      type: "run.tool-call",
      id: "1-1",
      server: "tracker",
      tool: "find",
      inputs: '{"id":7,"note":"***"}',
    });
    calls.waiting({ id: "1-1", callId: "call_1", for: "the assignee's approval" });
    await until("progress", () => progress.length === 1);
    t.same(progress, ["Waiting for the assignee's approval."]);
    const note = "A person changed the inputs.";
    calls.answered({ id: "1-1", outcome: "done", text: "an issue", note });
    t.equal(await found, `an issue${note}`, "a note is a text of its own");
    const refused = client.call("comment", {});
    await nth(1);
    calls.answered({ id: "1-2", outcome: "dismissed", text: "Not now." });
    t.equal(await refused, "error: Not now.");
    t.match(await client.call("post", {}).catch((error: Error) => error.message), /There is no tool post/);
    t.equal(asked.length, 2);
    await client.close();
  });

  t.test(`${name}, without progress, is told to call again, and its cancelling reaches the service`, async (t) => {
    const { socketOf: toSocket, clock, cancelled, nth, answer } = await begin(t);
    const client = await connect(t, toSocket("tracker"));
    const first = client.call("find", { id: 1 });
    await nth(0);
    clock.advance(50_000);
    t.match(await first, /^The call is under way\. Call again with the same inputs/);
    const second = client.call("find", { id: 1 });
    const stopping = new AbortController();
    const third = client.call("find", { id: 2 }, { signal: stopping.signal }).catch(() => "given up");
    t.match(await nth(1), { id: "1-2", inputs: '{"id":2}' }, "the equal one is no call of its own");
    stopping.abort();
    t.equal(await third, "given up");
    await until("the cancelling", () => cancelled.length === 1);
    t.same(cancelled, ["1-2"]);
    answer("1-1", "an issue");
    t.equal(await second, "an issue");
    void client.call("find", { id: 3 }).catch(() => undefined);
    await nth(2);
    await client.close();
    await until("what a client that left had open", () => cancelled.length === 2);
    t.same(cancelled, ["1-2", "1-3"]);
  });
}

t.test(
  "each integration has a server of its own, the service's tools one too, in a file for its user alone",
  async (t) => {
    const own: ServedTool = {
      name: "open_pull_request",
      description: "",
      schema: { type: "object" },
      call: async (inputs) => ({ text: JSON.stringify(inputs), isError: false }),
    };
    const { opened, folder, config, socketOf: toSocket } = await begin(t, { own: [own] });
    t.same(Object.keys(config), ["signalbox", "tracker", "chat"]);
    t.match(config.tracker, {
      type: "stdio",
      command: process.execPath,
      args: [/bridge\.js$/, join(folder.tools, "1")],
    });
    const toMode = (path: string) => (statSync(path).mode & 0o777).toString(8);
    t.same([folder.toolsConfig, folder.tools, toSocket("chat")].map(toMode), ["600", "700", "600"]);
    const client = await earlierClient(t, toSocket("signalbox"));
    t.equal(await client.call("open_pull_request", { title: "T" }), '{"title":"T"}');
    opened.close();
    await until("the socket is gone", () => !existsSync(toSocket("chat")));
    t.equal((await begin(t, { tools: [] })).config.tracker, undefined, "without tools the file names no server");
  },
);

t.test("a folder may be deep, and nothing is left beside it", async (t) => {
  const { socketOf: toSocket, nth, answer } = await begin(t, { deep: `${"deep-".repeat(20)}/${"deeper-".repeat(12)}` });
  const path = toSocket("chat");
  t.ok(Buffer.byteLength(path) > 200);
  const link = join(mkdtempSync(join(tmpdir(), "signalbox-tools-")), "at");
  t.teardown(() => rmSync(dirname(link), { recursive: true }));
  symlinkSync(dirname(path), link);
  const client = await laterClient(t, join(link, "1"), "legacy");
  const posted = client.call("post", {});
  await nth(0);
  answer("1-1", "posted");
  t.equal(await posted, "posted");
});

t.test("a hostile client ends its own connection at most: others are served meanwhile", async (t) => {
  const { socketOf: toSocket, calls, asked, nth, answer } = await begin(t);
  const honest = await earlierClient(t, toSocket("chat"));
  const junk = await connectTo(t, toSocket("tracker"));
  junk.write(`\u0000\n{"jsonrpc":"1"}\n[]\nnull\n{"jsonrpc":"2.0","method":"x","id":{}}\n${"{".repeat(10_000)}\n`);
  const huge = await connectTo(t, toSocket("tracker"));
  huge.write(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"${"x".repeat(2 * 1024 * 1024)}`);
  await closing(huge);
  const greedy = await earlierClient(t, toSocket("tracker"));
  const answers = Array.from({ length: 1_000 }, (_, id) => greedy.call("find", { id }));
  const [text] = await Promise.all(answers.slice(MAX_OPEN_TOOL_CALLS));
  t.match(text, /^error: At most 32 calls/);
  t.equal(asked.length, MAX_OPEN_TOOL_CALLS);
  const deep = (levels: number): object => (levels === 0 ? {} : { in: deep(levels - 1) });
  for (const inputs of [{ text: "x".repeat(70_000) }, deep(40)]) {
    t.match(await honest.call("post", { inputs }), /^error: The inputs must/);
  }
  answer("1-1", "first");
  t.equal(await answers[0], "first");
  const posted = honest.call("post", { id: 1 });
  t.match(await nth(MAX_OPEN_TOOL_CALLS), { server: "chat" });
  answer(`1-${MAX_OPEN_TOOL_CALLS + 1}`, "posted");
  t.equal(await posted, "posted");
  calls.close();
  await Promise.all(answers);
  t.notOk(junk.destroyed, "junk is read over");
});

t.test("a client that floods its connection is read no faster than 1,000 messages a second", async (t) => {
  const { socketOf: toSocket, clock } = await begin(t);
  const flood = await connectTo(t, toSocket("tracker"));
  let answered = 0;
  flood.on("data", (chunk: Buffer) => {
    answered += chunk.toString().split("\n").length - 1;
  });
  const ping = (id: number) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`;
  flood.write(Array.from({ length: 6_000 }, (_, id) => ping(id)).join(""));
  await until("the flood is stemmed", () => clock.waiting > 0);
  t.ok(answered < 6_000);
  await until("all answers", () => {
    if (clock.waiting > 0) clock.advance(1_000);
    return answered === 6_000;
  });
  t.ok(clock.now() - Date.parse("2026-09-23T12:00:00.000Z") >= 3_000, "it took its time");
});

t.test("long messages count by their bytes, those of all clients of a run together", async (t) => {
  const { socketOf: toSocket, clock } = await begin(t);
  const ping = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"pad":"${"x".repeat(1_000_000)}"}}\n`;
  let answered = 0;
  for (const server of ["tracker", "chat", "tracker", "chat"]) {
    const client = await connectTo(t, toSocket(server));
    client.on("data", (chunk: Buffer) => {
      answered += chunk.toString().split("\n").length - 1;
    });
    client.write(ping);
  }
  await until("they are stemmed", () => clock.waiting > 0);
  t.ok(answered < 4);
  const other = await earlierClient(t, toSocket("chat"));
  t.match(await other.listTools(), [{ name: "post" }], "one that sends little is read at once");
  await until("all answers", () => {
    if (clock.waiting > 0) clock.advance(100);
    return answered === 4;
  });
  t.ok(clock.now() - Date.parse("2026-09-23T12:00:00.000Z") >= 500, "about a megabyte a second");
});

t.test("a client that reads nothing, and connections beyond a bound, are cut off", async (t) => {
  const { socketOf: toSocket } = await begin(t, {
    tools: Array.from({ length: 50 }, (_, n) => ({
      ...TOOLS[0],
      server: "tracker",
      name: `find_${n}`,
      description: "x".repeat(2_000),
      schema,
    })),
  });
  const path = toSocket("tracker");
  const deaf = await connectTo(t, path);
  deaf.pause();
  const list = (id: number) => `{"jsonrpc":"2.0","id":${id},"method":"tools/list"}\n`;
  deaf.write(Array.from({ length: 500 }, (_, id) => list(id)).join(""));
  const closed = closing(deaf);
  await until("its end", () => {
    deaf.write(list(1_000));
    return deaf.destroyed || !deaf.writable;
  });
  deaf.resume();
  await closed;
  const many = Array.from({ length: 40 }, () => createConnection(path).on("error", () => undefined));
  t.teardown(() => many.forEach((socket) => void socket.destroy()));
  let ended = 0;
  for (const socket of many) socket.once("close", () => (ended += 1));
  await until("those too many", () => ended === 8);
  t.equal(ended, 8);
});

t.test("whole numbers beyond 2^53 keep their digits, in schemas, inputs and results", async (t) => {
  const schema = { type: "object", properties: { id: { type: "number", default: 2n ** 64n + 1n } } };
  const tools = [{ server: "tracker", name: "close", description: "", schema }];
  const { socketOf: toSocket, nth, answer } = await begin(t, { tools });
  const socket = await connectTo(t, toSocket("tracker"));
  let got = "";
  socket.on("data", (chunk) => {
    got += chunk;
  });
  const say = (method: string, id: number | null, params: string) =>
    socket.write(`{"jsonrpc":"2.0",${id === null ? "" : `"id":${id},`}"method":"${method}","params":${params}}\n`);
  const client = '{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"tester","version":"1"}}';
  say("initialize", 1, client);
  await until("the greeting", () => got.includes("serverInfo"));
  say("notifications/initialized", null, "{}");
  say("tools/list", 2, "{}");
  await until("the tools", () => got.includes('"default":18446744073709551617'));
  const numbers = ["9007199254740993", "-9007199254740993", "18446744073709551617", "-18446744073709551617"];
  for (const [index, digits] of numbers.entries()) {
    const inputs = `{"id":${digits},"in":[${digits},1.5,1182376459023450171.0]}`;
    say("tools/call", index + 3, `{"name":"close","arguments":${inputs}}`);
    const call = await nth(index);
    t.equal(call.inputs, `{"id":${digits},"in":[${digits},1.5,1182376459023450000]}`);
    answer(call.id, `{"id":${digits}}`);
    await until("the result", () => got.includes(`{\\"id\\":${digits}}`));
  }
  say("tools/call", 9, `{"name":"close","arguments":{"id":${"9".repeat(1_001)}}}`);
  await until("the refusal", () => got.includes('"id":9,"error":{"code":-32602'));
});
