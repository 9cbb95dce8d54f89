import { constants } from "node:fs";
import { lstat, open, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { readJson, writeJson } from "../../../actors/exact-json.js";
import type { Clock } from "../../../runtime/clock.js";
import type { RunFolder } from "../checkout/run-folder.js";
import type { ServiceAnswer } from "./search-client.js";
import type { Submissions } from "./submissions.js";

export interface ProposalFilesOptions {
  readonly folder: Pick<RunFolder, "proposals" | "answers">;
  readonly said: Pick<Submissions, "say">;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Interval between scans of the folder, in milliseconds. */
const LOOK_MS = 500;
/** Maximum size of a file, in bytes. */
const MAX_BYTES = 2 * 1024 * 1024;
/** Names of files to process. Hidden files are ignored: the agent may still be writing them. */
const NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}\.json$/;

const TOO_LONG = `It must be a file of at most ${MAX_BYTES} bytes.`;
const NOT_UNDERSTOOD = 'It must be a JSON object whose `type` is "candidates" or "cause".';

const submissionSchema = z.looseObject({ type: z.enum(["candidates", "cause"]) });

/**
 * Sends the messages that an agent writes to files. Agents of any harness can use such files. Each
 * `proposals/<name>.json` holds one object, in the form of a line of the `command` harness. The runner removes the
 * file, sends the object, and writes the answer to `answers/<name>.json`: `{ status, body }`. If a file is not valid
 * JSON, the first scan skips it, because the agent may still be writing it.
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

  /** Processes the remaining files, and stops scanning. Call it when the agent has ended. */
  async finish(): Promise<void> {
    this.#cancel();
    await this.#looking;
    this.#cancel();
    // Scan twice: the first scan skips an invalid file, the second rejects it.
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
      // Ignore the error: an agent that damages its folders harms only its own messages.
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
    // Remove the file before sending, so that it is never sent twice.
    await rm(path, { recursive: true });
    this.#unready.delete(name);
    await this.#answer(name, text === null ? refuse(TOO_LONG) : await this.#say(value));
  }

  async #say(value: unknown): Promise<ServiceAnswer> {
    const submission = submissionSchema.safeParse(value);
    if (!submission.success) return refuse(NOT_UNDERSTOOD);
    const { type, ...rest } = submission.data;
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

/** Reads a regular file, and follows no link. Returns null for anything else, or if the file is too long. */
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
