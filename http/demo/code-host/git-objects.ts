import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";

interface GitObject {
  readonly id: string;
  readonly type: string;
  readonly bytes: Buffer;
}

/**
 * A parsed answer of `git cat-file`, and its length in bytes. `object` is null if the repository has no such object.
 */
interface BatchAnswer {
  readonly object: GitObject | null;
  readonly length: number;
}

/**
 * Reads refs and objects of one repository through one `git cat-file --batch`, because starting git takes longer than
 * reading an object. The process starts with the first read.
 */
export class GitObjects {
  readonly #folder: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #waiting: ((object: GitObject | null) => void)[] = [];
  #isClosed = false;
  #process: ChildProcessByStdio<Writable, Readable, null> | null = null;

  constructor(folder: string, env: NodeJS.ProcessEnv) {
    this.#folder = folder;
    this.#env = env;
  }

  /**
   * Returns the object with this name, such as `refs/heads/main` or `main:a.txt`. Returns null if there is no such
   * object, or after a call of {@link close}.
   */
  read(name: string): Promise<GitObject | null> {
    if (this.#isClosed || /[\n\0]/.test(name)) return Promise.resolve(null);
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#process ??= this.#start();
      this.#process.stdin.write(`${name}\n`);
    });
  }

  /** Ends the process after the in-flight reads have finished. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#process === null) return;
    const closed = once(this.#process, "close");
    this.#process.stdin.end();
    await closed;
  }

  #start() {
    const reading = spawn("git", ["cat-file", "--batch"], {
      cwd: this.#folder,
      env: this.#env,
      stdio: ["pipe", "pipe", "ignore"],
    });
    let rest: Buffer = Buffer.alloc(0);
    reading.stdout.on("data", (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      for (let answer = parseAnswer(rest); answer !== null; answer = parseAnswer(rest)) {
        rest = rest.subarray(answer.length);
        this.#waiting.shift()?.(answer.object);
      }
    });
    reading.stdin.on("error", () => undefined);
    reading.on("error", () => undefined);
    reading.on("close", () => {
      this.#process = null;
      for (const resolve of this.#waiting.splice(0)) resolve(null);
    });
    return reading;
  }
}

/**
 * Parses the first answer in `text`. The answer for an object has a line `<id> <type> <size>`, the bytes of the object,
 * and a line end. The answer for a missing object is a single line. Returns null if the answer is incomplete.
 */
function parseAnswer(text: Buffer): BatchAnswer | null {
  const end = text.indexOf("\n");
  if (end === -1) return null;
  const [, id = "", type = "", size] = /^([0-9a-f]+) (\w+) (\d+)$/.exec(text.subarray(0, end).toString()) ?? [];
  const from = end + 1;
  if (size === undefined) return { object: null, length: from };
  const to = from + Number(size);
  if (text.length <= to) return null;
  return { object: { id, type, bytes: Buffer.from(text.subarray(from, to)) }, length: to + 1 };
}
