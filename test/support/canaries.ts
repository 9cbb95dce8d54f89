import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Client, Reply } from "./service.js";

/** Number of characters at the end of a canary that identify it. */
const NEEDLE = 16;

/** A canary that was found in the service's output. Each sighting is an error. */
export interface Sighting {
  readonly canary: string;
  readonly where: string;
}

/** Values that are used as secrets, and all output of the service while these values were in use. */
export class Canaries {
  readonly #labels = new Map<string, string>();
  readonly #seen: { readonly where: string; readonly text: string }[] = [];

  get count(): number {
    return this.#labels.size;
  }

  /** Adds a value to look for, and returns it. */
  add(label: string, value: string): string {
    if (value.length < NEEDLE) throw new Error(`${label} is too short to be told apart`);
    this.#labels.set(value.slice(-NEEDLE), `${label} ${this.#labels.size}`);
    return value;
  }

  /** Records some output of the service. */
  saw(where: string, text: string): void {
    this.#seen.push({ where, text });
  }

  /**
   * Records the bytes of all files in a folder. Rejects if no file contains the text `plain`, because the search would
   * then miss canaries too.
   */
  async sawFiles(folder: string, plain: string): Promise<void> {
    let isThere = false;
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const text = (await readFile(join(entry.parentPath, entry.name))).toString("latin1");
      isThere ||= text.includes(plain);
      this.saw(`the file ${entry.name}`, text);
    }
    if (!isThere) throw new Error(`no file in ${folder} holds ${plain}`);
  }

  /**
   * Returns a client that records all answers. `shown` returns the values that an answer may contain once. The first
   * occurrence of such a value is removed before the answer is recorded, so only a second occurrence counts as a
   * sighting.
   */
  watch(client: Client): (request: WatchedRequest) => Promise<Reply> {
    return async ({ method, path, body, headers, shown }) => {
      const reply = await client.request(method, path, body, headers);
      let text = `${JSON.stringify(reply.headers)}\n${reply.text}`;
      for (const value of shown?.(reply) ?? []) text = text.replace(value, "");
      this.saw(`${method} ${path} answering ${reply.status}`, text);
      return reply;
    };
  }

  /** Returns all canaries in the output, whatever text surrounds them. */
  sightings(): Sighting[] {
    return this.#seen.flatMap(({ where, text }) => {
      const found: Sighting[] = [];
      for (let at = 0; at + NEEDLE <= text.length; at++) {
        const label = this.#labels.get(text.slice(at, at + NEEDLE));
        if (label !== undefined) found.push({ canary: label, where });
      }
      return found;
    });
  }
}

export interface WatchedRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly shown?: (reply: Reply) => readonly string[];
}
