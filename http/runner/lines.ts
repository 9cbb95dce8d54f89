import type { Readable } from "node:stream";

/** Longest line kept, in characters; what is longer is cut there, and the rest of it is passed over. */
const MAX_LINE = 1_000_000;

/** The lines of a stream as they come. Whoever is slow to take them slows the writer down. */
export async function* linesOf(stream: Readable): AsyncGenerator<string> {
  let rest = "";
  stream.setEncoding("utf8");
  for await (const chunk of stream as AsyncIterable<string>) {
    const parts = (rest + chunk).split("\n");
    rest = (parts.pop() ?? "").slice(0, MAX_LINE);
    yield* parts;
  }
  if (rest !== "") yield rest;
}
