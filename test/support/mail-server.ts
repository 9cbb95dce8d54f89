import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import PostalMime, { type Email } from "postal-mime";
import { SMTPServer, type SMTPServerSession } from "smtp-server";
import type { Cleaning } from "./service.js";

/** What a mail server does with a mail: accepts it, refuses it, never answers, or closes the connection. */
export type MailFate = "take" | "refuse" | "hang" | "drop";

export interface ReceivedMail {
  readonly to: readonly string[];
  /** The raw mail, not decoded. */
  readonly raw: string;
  readonly mail: Email;
}

/** A real mail server on the loopback interface that stores accepted mails. */
export interface MailServer {
  readonly url: string;
  readonly received: readonly ReceivedMail[];
  /** Returns the number of mails received, accepted or not. */
  readonly attempts: () => number;
  /** Resolves when `holds` returns true; checked after each mail. */
  until(holds: () => boolean): Promise<void>;
}

/** Starts a mail server for one test; `toFate` decides each mail's fate by its address. */
export async function startMailServer(
  t: Cleaning,
  toFate: (to: string) => MailFate = () => "take",
): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  const sockets = new Set<Socket>();
  const waiting = new Set<() => void>();
  let attempts = 0;
  const arrived = async (session: SMTPServerSession, raw: Buffer): Promise<MailFate> => {
    attempts += 1;
    const to = session.envelope.rcptTo.map(({ address }) => address);
    const fate = toFate(to[0] ?? "");
    const mail = await PostalMime.parse(raw);
    if (fate === "take") received.push({ to, raw: raw.toString("utf8"), mail });
    return fate;
  };
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS", "AUTH"],
    closeTimeout: 1,
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", async () => {
        const fate = await arrived(session, Buffer.concat(chunks));
        if (fate === "take") done();
        if (fate === "refuse") done(new Error("this text repeats the mail and belongs in no log"));
        if (fate === "drop") for (const socket of sockets) socket.destroy();
        for (const look of [...waiting]) look();
      });
    },
  });
  server.on("error", () => undefined);
  server.server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    received,
    attempts: () => attempts,
    until: (holds) =>
      new Promise<void>((resolve) => {
        const look = (): void => {
          if (!holds()) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
}
