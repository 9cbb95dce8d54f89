import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type CheckoutResult,
  type FailureCode,
  type Job,
  MAX_DIFF_BYTES,
  MAX_OUTPUT_CHARACTERS,
  type RunEnding,
  type RunFailure,
  type RunnerMessage,
  type RunStep,
  type Spent,
} from "../../actors/runners/protocol.js";
import { cut } from "./agent-lines.js";
import { type Checkout, type Checkouts, changesOf } from "./checkout.js";
import { type CommandResult, runShell } from "./command.js";
import { type AgentResult, type Harness, HarnessNotFound } from "./harness.js";
import { RunFolder } from "./run-folder.js";

export interface JobOptions {
  readonly workFolder: string;
  readonly checkouts: Checkouts;
  readonly harness: Harness;
  readonly send: (message: RunnerMessage) => void;
  /** Resolves when more may be sent. */
  readonly room: () => Promise<void>;
}

/** Why a run ends before it is done. */
export type Cut = "stop" | "drop" | "timeout";

/** A failure with its code, thrown on the way to the end. */
class JobFailed extends Error {
  override readonly name = "JobFailed";
  constructor(
    readonly code: FailureCode,
    message: string,
    readonly output = "",
  ) {
    super(message);
  }
}

type CheckResult = CommandResult & { readonly passed: boolean };

/** One claim being worked: from the checkouts to the report. */
export class JobRun {
  readonly job: Job;
  readonly #options: JobOptions;
  readonly #abort = new AbortController();
  #cut: Cut | null = null;
  #steps = 0;
  #handovers = 0;
  #spent: Spent | null = null;
  #check: CheckResult | null = null;
  readonly #answers = new Map<string, (refused: string | null) => void>();

  constructor(job: Job, options: JobOptions) {
    this.job = job;
    this.#options = options;
  }

  /** Ends the work: `stop` still reports, `drop` says nothing more. */
  end(cut: Cut): void {
    this.#cut = this.#cut === "drop" ? "drop" : cut;
    this.#abort.abort();
    for (const answer of this.#answers.values()) answer("the run is being stopped");
  }

  /** The service's answer to a handover. */
  answer(id: string, refused: string | null): void {
    this.#answers.get(id)?.(refused);
    this.#answers.delete(id);
  }

  /** Works the job to its end and reports it. Never rejects. */
  async work(): Promise<void> {
    const timer = setTimeout(() => this.end("timeout"), this.job.timeoutMinutes * 60_000);
    let folder: RunFolder | null = null;
    let checkouts: readonly Checkout[] = [];
    let failed: JobFailed | null = null;
    let ending: RunEnding | null = null;
    try {
      folder = await RunFolder.create(this.#options.workFolder, this.job);
      checkouts = await this.#layOut(folder);
      this.#send({ type: "run.started", ...this.#claim });
      ending = await this.#agent(folder, checkouts);
    } catch (error) {
      failed = error instanceof JobFailed ? error : new JobFailed("runner-error", messageOf(error));
    }
    clearTimeout(timer);
    if (this.#cut !== "drop") await this.#report(checkouts, ending, failed);
    await folder?.remove().catch(() => undefined);
  }

  get #claim() {
    return { runId: this.job.runId, fence: this.job.fence };
  }

  #send(message: RunnerMessage): void {
    if (this.#cut !== "drop") this.#options.send(message);
  }

  async #step(step: Omit<RunStep, "index" | "spent">): Promise<void> {
    await this.#options.room();
    this.#send({
      type: "run.step",
      ...this.#claim,
      step: { ...step, text: cut(step.text), index: this.#steps, spent: null },
    });
    this.#steps += 1;
  }

  async #layOut(folder: RunFolder): Promise<readonly Checkout[]> {
    const laidOut: Checkout[] = [];
    for (const wanted of this.job.checkouts) {
      if (wanted.image !== null) {
        const message = `${wanted.repository} wants the image ${wanted.image}, and this runner starts no containers`;
        throw new JobFailed("no-image", message);
      }
      const checkout = await this.#options.checkouts
        .layOut(wanted, folder.checkout(wanted.repository))
        .catch((error: unknown) => {
          throw new JobFailed("checkout-failed", `${wanted.repository} could not be checked out`, messageOf(error));
        });
      laidOut.push(checkout);
      if (wanted.setup !== null) await this.#setUp(folder, checkout, wanted.setup);
    }
    return laidOut;
  }

  async #setUp(folder: RunFolder, checkout: Checkout, command: string): Promise<void> {
    const where = { cwd: checkout.folder, env: this.#environment(folder) };
    const { exitCode, output } = await runShell(command, where, this.#abort.signal);
    if (exitCode !== 0) {
      throw new JobFailed(
        "setup-failed",
        `the setup of ${checkout.repository} ended with ${exitCode ?? "a signal"}`,
        output,
      );
    }
    // What setup made (dependencies, builds) is no work of the agent: it must be ignored by the repository.
  }

  async #agent(folder: RunFolder, checkouts: readonly Checkout[]): Promise<RunEnding> {
    const cwd = cwdOf(folder, checkouts);
    await writeFile(join(folder.context, "prompt.md"), this.job.station.prompt);
    const { task, line, station } = this.job;
    await writeFile(join(folder.context, "context.json"), JSON.stringify({ task, line, station }, null, 2));
    let accepted: { readonly to: string; readonly note: string } | null = null;
    let question: string | null = null;
    const result = await this.#options.harness
      .run(this.job, {
        cwd,
        env: this.#environment(folder, checkouts),
        signal: this.#abort.signal,
        started: (group) => folder.note(group),
        step: (step) => this.#step(step),
        cost: (spent) => this.#addCost(spent),
        handover: async (to, note) => {
          const refused = await this.#handOver(folder, cwd, to, note);
          if (refused === null) accepted = { to, note };
          return refused;
        },
        ask: (asked) => {
          question = asked;
        },
      })
      .catch((error: unknown) => {
        if (error instanceof HarnessNotFound) throw new JobFailed("harness-not-found", error.message);
        throw error;
      });
    return this.#ending(folder, cwd, result, accepted, question);
  }

  async #ending(
    folder: RunFolder,
    cwd: string,
    result: AgentResult,
    accepted: { readonly to: string; readonly note: string } | null,
    question: string | null,
  ): Promise<RunEnding> {
    if (this.#cut === "timeout") {
      throw new JobFailed("timed-out", `the run took longer than ${this.job.timeoutMinutes} minutes`, result.output);
    }
    if (this.#cut !== null) return { kind: "finish", note: "" };
    if (result.exitCode !== 0) {
      throw new JobFailed("harness-failed", `the agent ended with ${result.exitCode ?? "a signal"}`, result.output);
    }
    if (question !== null) return { kind: "ask", question };
    if (accepted !== null) return { kind: "handover", ...accepted };
    const [only, ...others] = this.job.station.next;
    if (only === undefined || others.length > 0) {
      await this.#passCheck(folder, cwd);
      return { kind: "finish", note: only === undefined ? "" : "The agent handed over to none of the next stations." };
    }
    const refused = await this.#handOver(folder, cwd, only, "");
    if (this.#check?.passed === false) await this.#passCheck(folder, cwd);
    return refused === null
      ? { kind: "handover", to: only, note: "" }
      : { kind: "finish", note: refused.slice(0, 20_000) };
  }

  /** The check at the end, when it decides over the run. */
  async #passCheck(folder: RunFolder, cwd: string): Promise<void> {
    const check = await this.#runCheck(folder, cwd);
    if (check?.passed === false) {
      throw new JobFailed("check-failed", `the check ended with ${check.exitCode ?? "a signal"}`, check.output);
    }
  }

  /** Asks to hand over: the station's check first, then the service. Null when it is given, else why not. */
  async #handOver(folder: RunFolder, cwd: string, to: string, note: string): Promise<string | null> {
    const check = await this.#runCheck(folder, cwd);
    if (check?.passed === false) return `The station's check failed.\n${check.output}`.slice(0, 20_000);
    this.#handovers += 1;
    const id = `${this.job.fence}-${this.#handovers}`;
    const answered = new Promise<string | null>((resolve) => this.#answers.set(id, resolve));
    this.#send({ type: "run.handover", ...this.#claim, id, to, note });
    return answered;
  }

  async #runCheck(folder: RunFolder, cwd: string): Promise<CheckResult | null> {
    const { check } = this.job.station;
    if (check === null) return null;
    const result = await runShell(check, { cwd, env: this.#environment(folder) }, this.#abort.signal);
    this.#check = { ...result, passed: result.exitCode === 0 };
    return this.#check;
  }

  async #addCost(spent: Spent): Promise<void> {
    if (this.#spent !== null && this.#spent.currency !== spent.currency) {
      const text = `a cost in ${spent.currency} cannot be added to one in ${this.#spent.currency}`;
      return this.#step({ kind: "error", text, tool: null });
    }
    this.#spent = { amount: (this.#spent?.amount ?? 0) + spent.amount, currency: spent.currency };
  }

  /** What programs of the run see: nothing of the runner's own environment but the path and the language. */
  #environment(folder: RunFolder, checkouts: readonly Checkout[] = []): Record<string, string> {
    const { job } = this;
    return {
      PATH: process.env.PATH ?? "/usr/bin:/bin",
      LANG: process.env.LANG ?? "C.UTF-8",
      HOME: folder.home,
      TMPDIR: folder.home,
      ...job.harness.env,
      ...job.harness.secrets,
      SIGNALBOX_RUN: job.runId,
      SIGNALBOX_TASK: job.task.id,
      SIGNALBOX_STATION: job.station.key,
      SIGNALBOX_PROMPT_FILE: join(folder.context, "prompt.md"),
      SIGNALBOX_CONTEXT_FILE: join(folder.context, "context.json"),
      SIGNALBOX_CHECKOUTS: JSON.stringify(
        Object.fromEntries(checkouts.map((checkout) => [checkout.repository, checkout.folder])),
      ),
    };
  }

  async #report(checkouts: readonly Checkout[], ending: RunEnding | null, failed: JobFailed | null): Promise<void> {
    let failure: RunFailure | null = failed === null ? null : toFailure(failed);
    let results: CheckoutResult[] = [];
    try {
      results = await collect(checkouts);
    } catch (error) {
      failure ??= toFailure(
        error instanceof JobFailed
          ? error
          : new JobFailed("runner-error", "the changes could not be read", messageOf(error)),
      );
    }
    const stopped = this.#cut === "stop";
    this.#send({
      type: "run.ended",
      ...this.#claim,
      outcome: stopped ? "stopped" : failure === null ? "completed" : "failed",
      ending: stopped || failure !== null ? null : ending,
      failure: stopped ? null : failure,
      checkouts: results,
      check: this.#check,
      spent: this.#spent,
    });
  }
}

/** A single checkout is the agent's working folder; with several it is the folder that holds them. */
function cwdOf(folder: RunFolder, checkouts: readonly Checkout[]): string {
  const [only, ...others] = checkouts;
  if (only === undefined) return folder.home;
  return others.length === 0 ? only.folder : join(folder.path, "checkouts");
}

async function collect(checkouts: readonly Checkout[]): Promise<CheckoutResult[]> {
  const results: CheckoutResult[] = [];
  for (const checkout of checkouts) {
    const { repository, base } = checkout;
    const diff = await changesOf(checkout);
    const bytes = Buffer.byteLength(diff);
    if (bytes > MAX_DIFF_BYTES) {
      throw new JobFailed(
        "diff-too-large",
        `the changes to ${repository} are ${bytes} bytes, at most ${MAX_DIFF_BYTES}`,
      );
    }
    results.push({ repository, base, diff });
  }
  return results;
}

function toFailure({ code, message, output }: JobFailed): RunFailure {
  return { code, message: message.slice(0, 2_000), output: output.slice(-MAX_OUTPUT_CHARACTERS) };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
