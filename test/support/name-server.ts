import { createSocket } from "node:dgram";
import type { Cleaning } from "./service.js";

/** A real name server on the loopback interface. */
export interface NameServer {
  /** The server's address, in the format of `node:dns`. */
  readonly address: string;
  /** The queried names, once per address type. */
  readonly asked: string[];
}

const IPV4 = 1;
const NOT_KNOWN = 3;

/** Answers with one IPv4 address per name. A name with "never" gets no answer; other names are unknown. */
export async function nameServer(t: Cleaning, names: Readonly<Record<string, string>>): Promise<NameServer> {
  const socket = createSocket("udp4");
  const asked: string[] = [];
  socket.on("message", (query, from) => {
    const { name, end } = readQuestion(query);
    const kind = query.readUInt16BE(end);
    asked.push(name);
    const known = names[name];
    if (known === "never") return;
    const hasAddress = known !== undefined && kind === IPV4;
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(0x8180 | (known === undefined ? NOT_KNOWN : 0), 2);
    head.writeUInt16BE(hasAddress ? 1 : 0, 6);
    head.fill(0, 8, 12);
    // The answer record has these parts: a pointer to the question's name, the type, the class, a time to live of 0,
    // and 4 bytes of data.
    const record = hasAddress ? [0xc0, 12, 0, IPV4, 0, 1, 0, 0, 0, 0, 0, 4, ...known.split(".").map(Number)] : [];
    socket.send(Buffer.concat([head, query.subarray(12, end + 4), Buffer.from(record)]), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  t.teardown(() => new Promise<void>((resolve) => socket.close(() => resolve())));
  return { address: `127.0.0.1:${socket.address().port}`, asked };
}

/** Reads the queried name, and the position at which the question ends. */
function readQuestion(query: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join("."), end: at + 1 };
}
