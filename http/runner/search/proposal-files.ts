import { constants } from "node:fs";
import { lstat, open, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { readJson, writeJson } from "../../../actors/exact-json.js";
import type { Clock } from "../../../runtime/clock.js";
import type { RunFolder } from "../checkout/run-folder.js";
import type { Said } from "./said.js";
import type { ServiceAnswer } from "./search-client.js";

export interface ProposalFilesOptions {
  readonly folder: Pick<RunFolder, "proposals" | "answers">;
  readonly said: Pick<Said, "say">;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** How often the folder is looked into, in milliseconds. */
const LOOK_MS = 500;
/** Longest file, in bytes. */
const MAX_BYTES = 2 * 1024 * 1024;
/** Names of files that are taken: no hidden ones, which may be half written. */
const NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}\.json$/;

const TOO_LONG = `It must be a file of at most ${MAX_BYTES} bytes.`;
const NOT_UNDERSTOOD = 'It must be a JSON object whose `type` is "candidates" or "cause".';

const saidSchema = z.looseObject({ type: z.enum(["candidates", "cause"]) });

/**
 * What an agent of any harness says in files: each `proposals/<name>.json`, an object as the `command` harness takes it in
 * a line, is taken away, sent, and answered in `answers/<name>.json`: `{ status, body }`. A file that is no JSON is left
 * once, since it may still be written.
 */
export class ProposalFiles {
  readonly #options: ProposalFilesOptions;
  readonly #unready = new Set<string>();
  #looking: Promise<void> = Promise.resolve();
  #cancel: () => void = () => undefined;

  constructor(options: ProposalFilesOptions) {
    this.#options = options;
    this.#lookLater();
  }

  /** The agent has ended: takes what it left, and looks no more. */
  async finish(): Promise<void> {
    this.#cancel();
    await this.#looking;
    this.#cancel();
    // What is still no JSON will not become any.
    await this.#look();
    await this.#look();
  }

  #lookLater(): void {
    const { clock } = this.#options;
    this.#cancel = clock.at(clock.now() + LOOK_MS, () => {
      this.#looking = this.#look().then(() => this.#lookLater());
    });
  }

  async #look(): Promise<void> {
    const { folder, signal } = this.#options;
    const names = await readdir(folder.proposals).catch((): string[] => []);
    for (const name of names.filter((one) => NAME.test(one)).sort()) {
      if (signal.aborted) return;
      // What the agent does to its folders harms only what it says.
      await this.#take(name).catch(() => undefined);
    }
  }

  async #take(name: string): Promise<void> {
    const path = join(this.#options.folder.proposals, name);
    const text = await readPlain(path);
    const value = text === null ? undefined : parseJson(text);
    if (text !== null && value === undefined && !this.#unready.has(name)) {
      this.#unready.add(name);
      return;
    }
    // Taken away before it is sent, so that it is never sent twice.
    await rm(path, { recursive: true });
    this.#unready.delete(name);
    await this.#answer(name, text === null ? refuse(TOO_LONG) : await this.#say(value));
  }

  async #say(value: unknown): Promise<ServiceAnswer> {
    const said = saidSchema.safeParse(value);
    if (!said.success) return refuse(NOT_UNDERSTOOD);
    const { type, ...rest } = said.data;
    return this.#options.said.say(type, rest);
  }

  async #answer(name: string, { status, body }: ServiceAnswer): Promise<void> {
    const { answers } = this.#options.folder;
    const part = join(answers, `.${name}`);
    await rm(part, { recursive: true, force: true });
    await writeFile(part, writeJson({ status, body }), { flag: "wx" });
    await rename(part, join(answers, name));
  }
}

function refuse(detail: string): ServiceAnswer {
  return { status: 400, body: { title: "Not sent", detail } };
}

/** The text of a plain file, not of what a link leads to; null for what is none, or too long. */
async function readPlain(path: string): Promise<string | null> {
  const stat = await lstat(path);
  if (!stat.isFile() || stat.size > MAX_BYTES) return null;
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

function parseJson(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    return undefined;
  }
}
