import { createHash } from "node:crypto";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { writeJson } from "../../../actors/exact-json.js";
import type { Job, JobSearch } from "../../../actors/runners/job.js";
import type { RunStep } from "../../../actors/runners/protocol.js";
import { MAX_BYTES, MAX_FILE_BYTES } from "../../../actors/searches/agent/bounds.js";
import type { Clock } from "../../../runtime/clock.js";
import type { RunFolder } from "../checkout/run-folder.js";
import { JobFailed } from "../job-failed.js";
import { ProposalFiles } from "./proposal-files.js";
import { type SearchClient, SearchRefused, type ServiceAnswer, type SubmissionType } from "./search-client.js";
import { SEARCH_SKILL, toPrompt } from "./skill.js";
import { Submissions } from "./submissions.js";

export interface SearchRunOptions {
  readonly search: JobSearch;
  readonly claim: { readonly runId: string; readonly fence: number };
  readonly folder: RunFolder;
  readonly client: SearchClient;
  readonly clock: Clock;
  /** Aborted when the agent must end. */
  readonly signal: AbortSignal;
  readonly mask: (text: string) => string;
  readonly step: (step: Pick<RunStep, "kind" | "text" | "tool">) => Promise<void>;
}

/** The search part of a run: the material for its agent, and the agent's messages to the service. */
export class SearchRun {
  readonly #options: SearchRunOptions;
  readonly #submissions: Submissions;
  #files: ProposalFiles | null = null;

  constructor(options: SearchRunOptions) {
    this.#options = options;
    this.#submissions = new Submissions({ ...options, show: (type, answer) => this.#show(type, answer) });
  }

  /** The instructions for the agent, which come before its station's prompt. */
  get prompt(): string {
    return toPrompt(this.#options.search.kind);
  }

  /** Writes the material for the agent, and starts to scan for message files. */
  async begin(): Promise<void> {
    await laySearchFiles(this.#options);
    this.#files = new ProposalFiles({ ...this.#options, said: this.#submissions });
  }

  /** Sends a message that the agent printed. Resolves with the answer. */
  say(type: SubmissionType, value: object): Promise<ServiceAnswer> {
    return this.#submissions.say(type, value);
  }

  /** Sends the messages in the remaining files. Call it when the agent has ended. */
  async finish(): Promise<void> {
    await this.#files?.finish();
  }

  #show(type: SubmissionType, { status, body }: ServiceAnswer): Promise<void> {
    const kind = status === 201 ? "tool" : "error";
    return this.#options.step({ kind, text: `${type}: ${status} ${writeJson(body)}`, tool: type });
  }
}

/** Starts the search part of a job. Returns null if the job belongs to no search. Rejects with a {@link JobFailed}. */
export async function beginSearch(
  { search }: Pick<Job, "search">,
  options: Omit<SearchRunOptions, "search">,
): Promise<SearchRun | null> {
  if (search === undefined) return null;
  const run = new SearchRun({ ...options, search });
  await run.begin().catch((error: unknown) => {
    if (!(error instanceof SearchRefused)) throw error;
    throw new JobFailed("runner-error", "cannot fetch the files for the search's agent", error.message);
  });
  return run;
}

/** Maximum number of attempts to list the files: they may change between the list and the fetch. */
const MOST_LISTS = 3;

interface LayOut {
  readonly folder: RunFolder;
  readonly client: Pick<SearchClient, "list" | "file">;
  readonly claim: { readonly runId: string; readonly fence: number };
  readonly signal: AbortSignal;
}

/**
 * Writes the material for a search's agent: the service's files, the skill that explains them, and the program with
 * which any agent can propose. Rejects with {@link SearchRefused}, also for a path that leads out of the folder.
 */
async function laySearchFiles({ folder, client, claim, signal }: LayOut): Promise<void> {
  const { search } = folder;
  const written = new Map<string, string>();
  let isWhole = false;
  for (let lists = 0; lists < MOST_LISTS && !isWhole; lists++) {
    isWhole = true;
    const { files, leftOut } = await client.list(claim, signal);
    if (files.reduce((sum, { bytes }) => sum + bytes, 0) > MAX_BYTES) throw new SearchRefused("the files are too long");
    for (const { file, path, digest } of files) {
      if (written.get(path) === digest) continue;
      const content = await client.file(claim, file, signal);
      if (content.length > MAX_FILE_BYTES) throw new SearchRefused(`the file ${path} is too long`);
      const found = createHash("sha256").update(content).digest("hex");
      await writeInto(search, path, content);
      written.set(path, found);
      // List the files again if a file has changed, for example because a replay's judge added its result.
      isWhole &&= found === digest;
    }
    await writeInto(search, "left-out.json", Buffer.from(`{"files":${leftOut}}\n`));
  }
  for (const made of [folder.proposals, folder.answers]) await mkdir(made, { recursive: true });
  const propose = join(search, "propose");
  await writeFile(propose, PROPOSE_SCRIPT);
  await chmod(propose, 0o755);
  await folder.writeSkills([SEARCH_SKILL]);
}

async function writeInto(folder: string, path: string, content: Uint8Array): Promise<void> {
  const target = join(folder, path);
  if (!target.startsWith(`${folder}${sep}`)) throw new SearchRefused(`the path ${path} leads outside its folder`);
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, content);
}

/**
 * The text of the program `propose`, for agents of any harness. It passes a file with an agent's message to the runner,
 * waits for the answer, and prints the answer. It exits with 0 if the service accepted the message.
 */
const PROPOSE_SCRIPT = `#!/bin/sh
# propose FILE: proposes candidates, or records a cause; prints the answer. See the skill "search".
set -eu
here=$(cd "$(dirname "$0")" && pwd)
name="said-$$-$(date +%s).json"
cp -- "$1" "$here/proposals/.$name"
mv -- "$here/proposals/.$name" "$here/proposals/$name"
while [ ! -e "$here/answers/$name" ]; do sleep 0.2; done
cat -- "$here/answers/$name"
grep -q '^{"status":201,' "$here/answers/$name"
`;
