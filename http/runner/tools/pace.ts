import type { Socket } from "node:net";
import type { Clock } from "../../../runtime/clock.js";

/** Messages of a client that are taken at once, and then in a second: no agent comes near it. */
const AT_ONCE = 2_000;
const PER_SECOND = 1_000;

const NEWLINE = "\n".charCodeAt(0);

/** Reads a client that floods its connection no faster than {@link PER_SECOND}, so that others have their turn. */
export function pace(client: Socket, clock: Clock): void {
  let left = AT_ONCE;
  let sinceMs = clock.now();
  let cancel: () => void = () => undefined;
  client.on("data", (chunk: Buffer) => {
    const now = clock.now();
    left = Math.min(AT_ONCE, left + ((now - sinceMs) * PER_SECOND) / 1_000) - countLines(chunk);
    sinceMs = now;
    if (left >= 0) return;
    client.pause();
    cancel();
    cancel = clock.at(now + (-left * 1_000) / PER_SECOND, () => client.resume());
  });
  client.once("close", () => cancel());
}

function countLines(chunk: Buffer): number {
  let lines = 0;
  for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) lines += 1;
  return lines;
}
