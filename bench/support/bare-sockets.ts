import uws from "uWebSockets.js";
import { type BareWorld, type SocketWorld, toTitle } from "./socket-world.js";

const TITLE_TEXT = new RegExp(toTitle(0).replace(/0+$/, (digits) => `\\d{${digits.length}}`));

/** The topic that a socket of the bare server reads. */
interface Reader {
  topic: string;
}

/**
 * Opens a minimal change service. It answers a POST to a topic's path, and sends the topic's readers the same bytes as
 * Signalbox, with the title of the posted change. It checks no credential, stores nothing, and evaluates nothing per
 * reader.
 */
export async function openBareSockets({
  topics,
  silent,
  text,
}: BareWorld): Promise<{ readonly world: SocketWorld; close(): Promise<void> }> {
  const app = uws.App();
  const readers = new Map(topics.map(({ name }) => [name, new Set<uws.WebSocket<Reader>>()]));
  const change = (topic: string, title: string): void => {
    const bytes = Buffer.from(text.replace(toTitle(0), title));
    for (const reader of readers.get(topic) ?? []) reader.send(bytes);
  };
  app.ws<Reader>("/*", {
    upgrade: (response, request, context) => {
      const key = request.getHeader("sec-websocket-key");
      response.upgrade({ topic: "" }, key, "", "", context);
    },
    message: (reader, message) => {
      const { subscribe: topic } = JSON.parse(Buffer.from(message).toString()) as { readonly subscribe: string };
      reader.getUserData().topic = topic;
      readers.get(topic)?.add(reader);
      reader.send("{}");
    },
    close: (reader) => void readers.get(reader.getUserData().topic)?.delete(reader),
  });
  for (const { name, write } of [...topics, silent]) {
    app.post(write.path, (response) => {
      response.onAborted(() => undefined);
      response.onData((chunk) => {
        const title = TITLE_TEXT.exec(Buffer.from(chunk).toString())?.[0] ?? "";
        response.cork(() => response.writeStatus("201 Created").end("{}"));
        change(name, title);
      });
    });
  }
  const port = await new Promise<number>((resolve, reject) => {
    app.listen("127.0.0.1", 0, (socket) =>
      socket === false ? reject(new Error("no port")) : resolve(uws.us_socket_local_port(socket)),
    );
  });
  return { world: { port, path: "/", topics, silent }, close: async () => void app.close() };
}
