import type { Readable } from "node:stream";

/** Maximum length of a line, in characters. The rest of a longer line is dropped. */
const MAX_LINE = 256 * 1024;

/** The lines of a stream, with back-pressure on its writer. */
export async function* linesOf(stream: Readable): AsyncGenerator<string> {
  let rest = "";
  stream.setEncoding("utf8");
  for await (const chunk of stream as AsyncIterable<string>) {
    const parts = chunk.split("\n");
    const last = parts.pop() ?? "";
    for (const part of parts) {
      yield join(rest, part).replace(/\r$/, "");
      rest = "";
    }
    rest = join(rest, last);
  }
  if (rest !== "") yield rest;
}

function join(before: string, more: string): string {
  return before.length >= MAX_LINE ? before : (before + more).slice(0, MAX_LINE);
}
