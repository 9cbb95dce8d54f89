import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";

/** Writes a question to standard error and reads a line without showing it; null at the end of the input. */
export async function askHidden(question: string, signal?: AbortSignal): Promise<string | null> {
  process.stderr.write(`${question} `);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: process.stdin, output: nowhere, terminal: true, historySize: 0 });
  try {
    const closed = new Promise<null>((resolve) => reader.once("close", () => resolve(null)));
    return await Promise.race([reader.question("", signal === undefined ? {} : { signal }), closed]);
  } finally {
    reader.close();
    process.stderr.write("\n");
  }
}
