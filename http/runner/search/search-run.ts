import { writeJson } from "../../../actors/exact-json.js";
import type { Job, JobSearch } from "../../../actors/runners/job.js";
import type { RunStep } from "../../../actors/runners/protocol.js";
import type { Clock } from "../../../runtime/clock.js";
import type { RunFolder } from "../checkout/run-folder.js";
import { JobFailed } from "../job-failed.js";
import { ProposalFiles } from "./proposal-files.js";
import { Said } from "./said.js";
import { type SaidType, type SearchClient, SearchRefused, type ServiceAnswer } from "./search-client.js";
import { laySearchFiles } from "./search-files.js";
import { promptOf } from "./skill.js";

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
  readonly #said: Said;
  #files: ProposalFiles | null = null;

  constructor(options: SearchRunOptions) {
    this.#options = options;
    this.#said = new Said({ ...options, show: (type, answer) => this.#show(type, answer) });
  }

  /** The instructions for the agent, which come before its station's prompt. */
  get prompt(): string {
    return promptOf(this.#options.search.kind);
  }

  /** Writes the material for the agent, and starts to scan for message files. */
  async begin(): Promise<void> {
    await laySearchFiles(this.#options);
    this.#files = new ProposalFiles({ ...this.#options, said: this.#said });
  }

  /** Sends a message that the agent printed. Resolves with the answer. */
  say(type: SaidType, value: object): Promise<ServiceAnswer> {
    return this.#said.say(type, value);
  }

  /** The agent has ended: sends the messages in its remaining files. */
  async finish(): Promise<void> {
    await this.#files?.finish();
  }

  #show(type: SaidType, { status, body }: ServiceAnswer): Promise<void> {
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
