import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Client, Reply } from "./service.js";

/** Characters by which a canary is told apart: the last of it. */
const NEEDLE = 16;

/** Where a canary was seen that nobody should have shown. */
export interface Sighting {
  readonly canary: string;
  readonly where: string;
}

/** Values that stand where secrets go, and everything that came out of the service while they were there. */
export class Canaries {
  readonly #labels = new Map<string, string>();
  readonly #seen: { readonly where: string; readonly text: string }[] = [];

  get count(): number {
    return this.#labels.size;
  }

  /** Keeps a value to look for; gives it back. */
  add(label: string, value: string): string {
    if (value.length < NEEDLE) throw new Error(`${label} is too short to be told apart`);
    this.#labels.set(value.slice(-NEEDLE), `${label} ${this.#labels.size}`);
    return value;
  }

  /** Something that came out of the service. */
  saw(where: string, text: string): void {
    this.#seen.push({ where, text });
  }

  /**
   * Every file of a folder, as its bytes. `plain` is text that stands in one of them: where it is not found, what is
   * looked for would not be found either, and this rejects.
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
   * A client whose every answer is looked at. `shown` tells the values that an answer rightly shows: each is taken out
   * of it once, so that it is found where it stands a second time.
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

  /** Every canary in what was seen, whatever it stands within. */
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
