import { once } from "node:events";
import type { AddressInfo } from "node:net";
import t, { type Test } from "tap";
import WebSocket, { WebSocketServer } from "ws";
import { openStream, type StreamMessage, type StreamOptions } from "../../../http/client/entry.js";
import { startTestService } from "../../support/service.js";
import { until } from "../../support/until.js";

const open: NonNullable<StreamOptions["open"]> = (url, headers) => new WebSocket(url, { headers });

/**
 * Starts a stream server that sends the messages that the test gives to the server. Records the client's pending
 * reconnections, so that the test can trigger them.
 */
async function spoken(t: Test) {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  const commands: string[] = [];
  const sockets: WebSocket[] = [];
  server.on("connection", (socket) => {
    sockets.push(socket);
    socket.on("message", (data) => commands.push(String(data)));
  });
  t.teardown(() => {
    for (const socket of sockets) socket.terminate();
    server.close();
  });
  const waits: (() => void)[] = [];
  const lost: (number | "connected")[] = [];
  const stream = openStream({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    open,
    onConnected: () => lost.push("connected"),
    onLost: (waitMs) => lost.push(waitMs),
    later: (_, run) => {
      waits.push(run);
      return () => undefined;
    },
  });
  t.teardown(() => stream.close());
  return { stream, sockets, commands, waits, lost };
}

t.test("a topic of the service is followed", async (t) => {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  const workspace = await ada.create("/api/resources/workspaces", { slug: "acme", name: "Acme" });
  const stream = openStream({ baseUrl: service.baseUrl, cookie: ada.credentials.cookie ?? "", open });
  t.teardown(() => stream.close());
  const seen: StreamMessage[] = [];
  stream.subscribe(`workspace/${workspace.id}`, (message) => seen.push(message));
  await until("it arrives", () => seen.length === 1);
  await ada.create(`/api/resources/workspaces/${workspace.id}/teams`, { key: "core", name: "Core" });
  await until("it arrives", () => seen.length === 2);
  t.match(seen, [{ kind: "snapshot" }, { kind: "change", data: { type: "configuration" } }]);
});

t.test("after a lost connection, each topic continues after its last message", async (t) => {
  const { stream, sockets, commands, waits, lost } = await spoken(t);
  const seen: unknown[] = [];
  stream.subscribe("task/a", ({ data }) => seen.push(data));
  stream.subscribe("task/b", ({ data }) => seen.push(data), 3);
  await until("it arrives", () => commands.length === 2);
  sockets[0]?.send(JSON.stringify({ topic: "task/a", seq: 7, kind: "snapshot", data: 1 }));
  await until("it arrives", () => seen.length === 1);
  sockets[0]?.terminate();
  await until("it arrives", () => waits.length === 1);
  waits.pop()?.();
  await until("it arrives", () => commands.length === 4);
  t.same(
    commands.slice(2).map((text) => JSON.parse(text)),
    [
      { subscribe: "task/a", after: 7 },
      { subscribe: "task/b", after: 3 },
    ],
  );
  sockets[1]?.terminate();
  await until("it arrives", () => waits.length === 1);
  t.same(lost, ["connected", 500, "connected", 1_000], "the wait doubles until a message arrives");
});

t.test("a refused credential ends the stream, and close ends it without an error", async (t) => {
  const { stream, sockets, commands, waits } = await spoken(t);
  stream.subscribe("task/a", () => undefined);
  await until("it arrives", () => commands.length === 1);
  sockets[0]?.close(4401, "signed out");
  await t.rejects(stream.ended, { message: "The service closed the stream: signed out" });
  t.equal(waits.length, 0);
  const other = await spoken(t);
  other.stream.close();
  await other.stream.ended;
});
