import { once } from "node:events";
import type { Job } from "../../actors/runners/job.js";
import type { RunEnding, RunnerFeature, RunnerMessage, RunStep, Spent } from "../../actors/runners/protocol.js";
import type { Clock } from "../../runtime/clock.js";
import type { ArchiveCache } from "./archives/archive-cache.js";
import type { Attachments } from "./attachments/attachments.js";
import { type Checkout, toBase } from "./checkout/checkout.js";
import { layOutCheckouts, toCwd } from "./checkout/lay-out.js";
import type { Mirrors } from "./checkout/mirrors.js";
import { RunFolder } from "./checkout/run-folder.js";
import { Dialogue, type MessageToAgent } from "./harness/dialogue.js";
import { type AgentResult, type Harness, HarnessNotFound } from "./harness/harness.js";
import { maskedStep, toMask } from "./harness/mask.js";
import type { PermissionAnswer, PermissionWish } from "./harness/permissions.js";
import { Spending } from "./harness/spending.js";
import { toTexts } from "./harness/task-text.js";
import { errorMessage, JobFailed, toFailure } from "./job-failed.js";
import { type CommandResult, runShell } from "./process/command.js";
import { Halt } from "./process/halt.js";
import { isIsolated } from "./process/isolated-run.js";
import { endMarked } from "./process/process-marks.js";
import { toEnvironment } from "./process/run-environment.js";
import { TimeLimit } from "./process/time-limit.js";
import { pullRequestTool } from "./push/pull-request-tool.js";
import { openPushSite, type PushSite } from "./push/push-site.js";
import { Pushes, type PushMessage } from "./push/pushes.js";
import { collect, remarksOn, toSummary } from "./run-report.js";
import type { SearchClient } from "./search/search-client.js";
import { beginSearch, type SearchRun } from "./search/search-run.js";
import { RunTools } from "./tools/run-tools.js";

export interface JobOptions {
  readonly workFolder: string;
  readonly mirrors: Mirrors;
  /** The cache of commits that the service stores. */
  readonly archives: ArchiveCache;
  readonly attachments: Attachments;
  /** Sends the messages of searches to the service. */
  readonly searches: SearchClient;
  readonly harnesses: ReadonlyMap<string, Harness>;
  /** The names of the environment variables of the runner to pass to the run's programs. */
  readonly passEnv: readonly string[];
  /** Returns the runner's own secrets, which must be masked: its token, and its git credentials. */
  readonly hidden: () => readonly string[];
  readonly clock: Clock;
  readonly send: (message: RunnerMessage) => void;
  /** Back-pressure: resolves when more may be sent, or when `signal` is aborted. */
  readonly room: (signal: AbortSignal) => Promise<void>;
  /** Whether the service supports this optional feature. */
  readonly knows: (feature: RunnerFeature) => boolean;
  readonly log: (line: string) => void;
}

/** Why a run ends early. With `question`, the agent's question ends a replay's or search's run. */
export type EndCause = "stop" | "drop" | "timeout" | "question";

/** A run's folder, and the repositories that the runner has checked out in it so far. */
interface Place {
  readonly folder: RunFolder;
  readonly checkouts: Checkout[];
  /** The push sites of the checkouts. The runner uses them to read each checkout's changes, and to push them. */
  readonly sites: PushSite[];
}

/** A command of the station or of a repository. */
interface ShellCommand {
  readonly command: string;
  readonly cwd: string;
  /** Whether the command gets the values of the harness's secrets. */
  readonly secrets: boolean;
}

type CheckResult = CommandResult & { readonly passed: boolean };

const NO_APPROVAL = "Nobody can approve calls in a replay or a search.";

/**
 * The work on one claim, from the checkouts to the report.
 *
 * 1. The runner sends one report at the end. If the claim is dropped, the runner kills all programs instead and sends
 *    nothing more. A run that can push waits after its report, until the service drops the claim.
 * 2. When the work ends, no process of the run is running, and the run's folder is removed.
 */
export class JobRun {
  readonly job: Job;
  readonly #options: JobOptions;
  readonly #halt: Halt;
  readonly #dropped = new AbortController();
  readonly #dialogue: Dialogue;
  readonly #mask: (text: string) => string;
  /** The run's pushes; null for a run that cannot push. */
  readonly #pushes: Pushes | null;
  /** The station's timeout; null until the work starts. */
  #timeout: TimeLimit | null = null;
  #cut: EndCause | null = null;
  #reported = false;
  #steps = 0;
  /** Whether the run had a tool step, or another step whose text is not blank. */
  #hasOutput = false;
  #programs = 0;
  readonly #spending = new Spending();
  #check: CheckResult | null = null;
  #question: string | null = null;
  #lastMessage = "";
  /** Whether the agent ended without output, a question or a handover. */
  #isSilent = false;
  #summary = "aborted: the run was withdrawn, or this runner lost its claim";

  constructor(job: Job, options: JobOptions) {
    this.job = job;
    this.#options = options;
    this.#halt = new Halt(options.clock);
    this.#mask = toMask([...Object.values(job.harness.secrets), ...options.hidden()]);
    this.#dialogue = new Dialogue({
      claim: this.claim,
      mask: this.#mask,
      send: (message) => this.#send(message),
      paused: (isPaused) => this.#timeout?.pause(isPaused),
    });
    const pushing = { claim: this.claim, clock: options.clock, mask: this.#mask, signal: this.#dropped.signal };
    this.#pushes =
      job.push && !isIsolated(job) ? new Pushes({ ...pushing, send: (message) => this.#send(message) }) : null;
  }

  get claim() {
    return { runId: this.job.runId, fence: this.job.fence };
  }

  /** Whether the work on the claim continues, or waits for a push. */
  get isHeld(): boolean {
    return this.#cut !== "drop" && (!this.#reported || this.#pushes !== null);
  }

  /** The title of the task in one line, for the log; empty for a job without a task. It holds no secrets. */
  get title(): string {
    const { task } = this.job;
    return task === undefined
      ? ""
      : this.#mask(task.title)
          .replace(/[\p{Cc}\s]+/gu, " ")
          .trim();
  }

  /** The result of the finished work, for the log. It holds no secrets. */
  get summary(): string {
    return this.#summary;
  }

  /** Ends the work. `drop` kills at once and sends nothing more; all other causes still send a report. */
  end(cut: EndCause): void {
    this.#cut = this.#cut === null || cut === "drop" ? cut : this.#cut;
    this.#dialogue.close();
    if (cut !== "drop") return this.#halt.stop();
    this.#dropped.abort();
    return this.#halt.kill();
  }

  /** Handles a message for the agent, or about a push. */
  take(message: MessageToAgent | PushMessage): void {
    if (message.type === "run.push" || message.type === "run.pull-request-answered") this.#pushes?.take(message);
    else this.#dialogue.take(message);
  }

  /** Does the whole job and reports its end. Never rejects. */
  async work(): Promise<void> {
    const { clock, workFolder, mirrors, log } = this.#options;
    const { timeoutMinutes } = this.job;
    this.#timeout = new TimeLimit(clock, timeoutMinutes * 60_000, () => this.end("timeout"));
    let place: Place | null = null;
    let ending: RunEnding | null = null;
    let failed: JobFailed | null = null;
    try {
      place = { folder: await RunFolder.create(workFolder, this.job), checkouts: [], sites: [] };
      ending = await this.#attempt(place);
    } catch (error) {
      failed = error instanceof JobFailed ? error : new JobFailed("runner-error", errorMessage(error));
    }
    this.#timeout.end();
    if (place !== null) await endMarked(place.folder.mark);
    await this.#report(place?.sites ?? [], ending, this.#failure(failed));
    if (this.#pushes !== null && this.isHeld) await once(this.#dropped.signal, "abort");
    for (const { repository, base: commit } of place?.checkouts ?? []) mirrors.held.letGo({ repository, commit });
    this.#halt.over();
    await place?.folder.remove().catch((error: unknown) => log(`${this.job.runId}: ${errorMessage(error)}`));
  }

  #wasCut(): boolean {
    return this.#cut !== null;
  }

  #send(message: RunnerMessage): void {
    if (this.isHeld) this.#options.send(message);
  }

  async #step(step: Omit<RunStep, "index" | "spent">): Promise<void> {
    await this.#options.room(this.#halt.stopping);
    if (step.kind === "message") this.#lastMessage = step.text;
    this.#hasOutput ||= step.kind === "tool" || step.text.trim() !== "";
    this.#sendStep(step);
  }

  #sendStep(step: Omit<RunStep, "index" | "spent">): void {
    const masked = { ...maskedStep(step, this.#mask), index: this.#steps, spent: null };
    this.#send({ type: "run.step", ...this.claim, step: masked });
    this.#steps += 1;
  }

  async #attempt(place: Place): Promise<RunEnding> {
    const { missingSecrets } = this.job.harness;
    if (missingSecrets.length > 0) {
      throw new JobFailed("secret-missing", `these secrets do not exist: ${missingSecrets.join(", ")}`);
    }
    await this.#checkOut(place);
    if (this.job.replay?.does === "check") return this.#checkAlone(place);
    const result = await this.#agent(place);
    if (this.#cut === "question") return this.#asked();
    this.#isSilent = !this.#hasOutput && this.#question === null && this.#dialogue.handovers.given === null;
    const ended = () => new JobFailed("harness-failed", "the agent was killed", result.output);
    if (this.#wasCut()) throw ended();
    const ending = await this.#ending(place, result);
    if (this.#wasCut() && ending.kind !== "handover") throw ended();
    return ending;
  }

  #checkOut(place: Place): Promise<void> {
    const { mirrors, archives } = this.#options;
    const signal = this.#halt.stopping;
    return layOutCheckouts(this.job, {
      ...place,
      mirrors,
      signal,
      laidOut: async (checkout) => {
        const site = await openPushSite(checkout, place.folder, signal);
        place.sites.push(site);
        this.#pushes?.add(site);
      },
      restore: (record, stored) => archives.restoreInto(record, { ...stored, claim: this.claim }, signal),
      setUp: ({ repository, folder }, command) => {
        const secrets = this.job.replay?.secretsFor.setup.includes(repository) ?? true;
        return this.#shell(place, { command, cwd: folder, secrets });
      },
    });
  }

  async #agent(place: Place): Promise<AgentResult> {
    const { name } = this.job.harness;
    const harness = this.#options.harnesses.get(name);
    if (harness === undefined) throw new JobFailed("harness-not-found", `this runner has no harness ${name}`);
    const { clock, room } = this.#options;
    const { calls } = this.#dialogue;
    const own = this.#pushes === null ? [] : [pullRequestTool(this.#pushes, clock)];
    const options = { folder: place.folder, calls, own, clock, mask: this.#mask, room };
    const tools = await RunTools.open(this.job, options);
    return this.#runAgent(place, harness).finally(() => {
      calls.close();
      tools.close();
    });
  }

  async #runAgent(place: Place, harness: Harness): Promise<AgentResult> {
    const { folder } = place;
    const { station, skills } = this.job;
    await folder.writeSkills(skills);
    await this.#options.attachments.fetchFor(this.job, folder.attachments, this.#halt.stopping);
    const search = await this.#beginSearch(folder);
    const prompt = search === null ? station.prompt : `${search.prompt}${station.prompt}`;
    await folder.writeContext(toTexts(this.job, prompt, place.checkouts));
    return harness
      .run(this.job, {
        cwd: toCwd(place),
        env: this.#environment(place, { secrets: true }),
        mark: folder.mark,
        halt: this.#halt,
        started: async (group) => {
          await folder.note(group);
          this.#sendStarted(place);
        },
        step: (step) => this.#step(step),
        cost: (spent, model) => this.#addCost(spent, model),
        handover: (to, note) => this.#handOver(place, to, note),
        ask: (question) => this.#takeQuestion(question),
        permission: (wish, answered) => this.#askPermission(wish, answered),
        say: search === null ? null : (type, value) => search.say(type, value),
        listen: (give) => this.#dialogue.messages.listen(give),
      })
      .catch((error: unknown) => {
        throw error instanceof HarnessNotFound ? new JobFailed("harness-not-found", error.message) : error;
      })
      .finally(() => search?.finish());
  }

  /** Starts the search part of the run. Resolves with null if the run belongs to no search. */
  #beginSearch(folder: RunFolder): Promise<SearchRun | null> {
    const { clock, searches: client } = this.#options;
    const options = { claim: this.claim, folder, client, clock, signal: this.#halt.stopping, mask: this.#mask };
    return beginSearch(this.job, { ...options, step: (step) => this.#step(step) });
  }

  /** Runs the station's check on the fresh checkouts, without an agent. */
  async #checkAlone(place: Place): Promise<RunEnding> {
    this.#sendStarted(place);
    await this.#passCheck(place);
    return { kind: "finish", note: "" };
  }

  #sendStarted({ checkouts }: Place): void {
    const bases = this.#options.knows("bases") ? { bases: checkouts.map(toBase) } : {};
    this.#send({ type: "run.started", ...this.claim, ...bases });
  }

  async #ending(place: Place, { exitCode, output }: AgentResult): Promise<RunEnding> {
    if (exitCode !== 0) {
      throw new JobFailed("harness-failed", `the agent exited with ${exitCode ?? "a signal"}`, output);
    }
    const { given } = this.#dialogue.handovers;
    if (given !== null) return { kind: "handover", to: given.to, note: this.#mask(given.note) };
    if (this.#question !== null) return this.#asked();
    await this.#passCheck(place);
    const [only, ...others] = this.job.station.next;
    // In a review, the agent's last message is the result.
    const found = this.job.task?.review === undefined ? "" : this.#mask(this.#lastMessage).slice(0, 20_000);
    if (only === undefined) return { kind: "finish", note: found };
    if (others.length > 0) return { kind: "finish", note: "The agent handed over to none of the next stations." };
    const refused = await this.#dialogue.handovers.ask({ to: only, note: "" });
    if (refused === null) return { kind: "handover", to: only, note: "" };
    return { kind: "finish", note: refused.slice(0, 20_000) };
  }

  #takeQuestion(question: string): void {
    this.#question = question;
    if (isIsolated(this.job) && this.#dialogue.handovers.given === null) this.end("question");
  }

  #asked(): RunEnding {
    return { kind: "ask", question: this.#mask(this.#question ?? "") };
  }

  /**
   * Requests a handover: runs the station's check, then asks the service. Returns null if the service accepts,
   * otherwise the reason.
   */
  async #handOver(place: Place, to: string, note: string): Promise<string | null> {
    const { closedBecause } = this.#dialogue.handovers;
    if (closedBecause !== null) return closedBecause;
    const check = await this.#runCheck(place);
    if (check?.passed === false) return `The station's check failed.\n${check.output.slice(-19_000)}`;
    return this.#dialogue.handovers.ask({ to, note });
  }

  async #askPermission(wish: PermissionWish, answered: (answer: PermissionAnswer) => void): Promise<void> {
    await this.#options.room(this.#halt.stopping);
    if (isIsolated(this.job)) return answered({ dismissed: NO_APPROVAL });
    if (!this.#options.knows("permissions")) {
      return answered({ dismissed: "This release of the service does not support permission requests." });
    }
    this.#dialogue.permissions.ask(wish, answered);
  }

  /** Runs the station's check. Throws if the check fails. */
  async #passCheck(place: Place): Promise<void> {
    const check = await this.#runCheck(place);
    if (check?.passed !== false) return;
    throw new JobFailed("check-failed", `the check exited with ${check.exitCode ?? "a signal"}`, check.output);
  }

  async #runCheck(place: Place): Promise<CheckResult | null> {
    const { check } = this.job.station;
    if (check === null) return null;
    const secrets = this.job.replay?.secretsFor.check ?? true;
    const { exitCode, output } = await this.#shell(place, { command: check, cwd: toCwd(place), secrets });
    this.#check = { exitCode, output: this.#mask(output), passed: exitCode === 0 };
    return this.#check;
  }

  #shell(place: Place, { command, cwd, secrets }: ShellCommand): Promise<CommandResult> {
    this.#programs += 1;
    return runShell(command, {
      cwd,
      env: this.#environment(place, { secrets }),
      mark: `${place.folder.mark}command-${this.#programs}.`,
      halt: this.#halt,
      started: (group) => place.folder.note(group),
    });
  }

  async #addCost(spent: Spent, model: string | null): Promise<void> {
    const refused = this.#spending.add(spent, model === null ? null : this.#mask(model));
    if (refused !== null) await this.#step({ kind: "error", text: refused, tool: null });
  }

  #environment({ folder, checkouts }: Place, { secrets }: Pick<ShellCommand, "secrets">): Record<string, string> {
    return toEnvironment(this.job, folder, { checkouts, passed: this.#options.passEnv, secrets });
  }

  /** Returns the run's failure; null if it did not fail. After a timeout, every failure is `timed-out`. */
  #failure(failed: JobFailed | null): JobFailed | null {
    if (this.#cut !== "timeout" || failed === null) return failed;
    const message = `the run took longer than ${this.job.timeoutMinutes} minutes`;
    return new JobFailed("timed-out", message, failed.output || failed.message);
  }

  async #report(sites: readonly PushSite[], ending: RunEnding | null, failed: JobFailed | null): Promise<void> {
    if (!this.isHeld) return;
    const { replay } = this.job;
    const options = { clock: this.#options.clock, signal: this.#dropped.signal, own: replay !== undefined };
    const collected = await collect(replay?.does === "check" ? [] : sites, options);
    this.#pushes?.keep(collected.snapshots);
    for (const text of collected.remarks) this.#sendStep({ kind: "error", text, tool: null });
    const remarks = remarksOn(collected, this.#isSilent && failed === null).map(this.#mask);
    const failure = failed ?? collected.failed;
    const stopped = this.#cut === "stop";
    const reported = stopped || failure === null ? null : toFailure(failure, this.#mask);
    const outcome = stopped ? "stopped" : reported === null ? "completed" : "failed";
    if (reported !== null) this.#summary = `failed, ${reported.code}: ${reported.message}`;
    else this.#summary = stopped || ending === null ? outcome : toSummary(ending, this.#mask);
    this.#send({
      type: "run.ended",
      ...this.claim,
      outcome,
      ending: stopped || failure !== null ? null : ending,
      failure: reported,
      checkouts: [...collected.results],
      check: this.#check,
      spent: this.#spending.spent,
      ...(this.#spending.model !== null && { model: this.#spending.model }),
      ...(remarks.length > 0 && { remarks }),
    });
    this.#reported = true;
  }
}
