import { type ActorSettings, createActorTypes, createKinds, subscribers } from "../../actors/catalogue.js";
import type { Station } from "../../actors/lines/station.js";
import { parseAllowList } from "../../actors/outbound/http/allow-list.js";
import { modelEffect } from "../../actors/outbound/models/model.effects.js";
import type { Model, ModelReply } from "../../actors/outbound/models/model.js";
import type { ModelRequest } from "../../actors/outbound/models/model-request.js";
import type { Refusal } from "../../actors/refusal.js";
import { isRefusal } from "../../actors/refusal.js";
import { listCopies } from "../../actors/replays/copies/replay-copy.table.js";
import type { ReplayCopyRow, ReplayRow } from "../../actors/replays/replay/replay.js";
import { replayRef } from "../../actors/replays/replay/replay.messages.js";
import { replays } from "../../actors/replays/replay/replay.table.js";
import type { ReplaySetRow } from "../../actors/replays/sets/replay-set.js";
import { type ReplayStarted, replaySetsRef } from "../../actors/replays/sets/replay-set.messages.js";
import { replaySets } from "../../actors/replays/sets/replay-set.table.js";
import { resources } from "../../actors/resources/resource.table.js";
import { RUNNER_FEATURES, type RunnerMessage } from "../../actors/runners/protocol.js";
import { runnerRef, type Welcome } from "../../actors/runners/runner.messages.js";
import { outbox } from "../../actors/runners/runner.table.js";
import { runs } from "../../actors/runs/run.table.js";
import { runInputs } from "../../actors/runs/run-input.table.js";
import { retentionEffect } from "../../actors/tables/retention.effects.js";
import { tasks } from "../../actors/tasks/task.table.js";
import type { Message } from "../../runtime/turns/turn.js";
import { Harness } from "./harness.js";
import { base, SteppedWork } from "./stepped-work.js";
import { memoryRows } from "./turn.js";
import { line, lineId, putPool, teamId, workspaceId } from "./work.js";

const kinds = createKinds({ allowList: parseAllowList(""), signsTokens: false });
const caller = { kind: "person", userId: "usr_1", email: "usr_1@example.com", sessionId: "ses_1" } as const;
const POOL = "pool_1";
/** The runner's lease: longer than any test, because the runner sends no heartbeats. */
const LEASE_MS = 24 * 60 * 60 * 1_000;

export interface ReplayWorldOptions extends ActorSettings {
  /** Number of past runs, each of a different task, all in the set. */
  readonly runs?: number;
  readonly slots?: number;
  /** Fields of the station `work` that override the default. */
  readonly station?: object;
  /** Fields of the line that override the default. */
  readonly line?: object;
  /**
   * Returns the model's reply to a request. The model replies after three seconds. Without this function, no model is
   * configured.
   */
  readonly model?: (request: ModelRequest) => ModelReply;
  /** Changes the rows of the past runs before the first process starts. */
  readonly prepare?: (rows: ReturnType<typeof memoryRows>) => void;
  /** Proposed candidates of the station by id, each with its changes to the station's block. */
  readonly candidates?: Readonly<Record<string, object>>;
}

/** A job assigned to the runner. */
export interface GivenJob {
  readonly runId: string;
  readonly fence: number;
}

type EndReport = Partial<Extract<RunnerMessage, { type: "run.ended" }>>;

/** A set of past runs, replayed by the real runtime over simulated time. The test plays the runner. */
export class ReplayWorld {
  readonly harness: Harness;
  setId = "";
  readonly #options: ReplayWorldOptions;
  #connection = "";
  #said = 0;
  #process = 0;
  readonly #taken = new Set<string>();

  private constructor(options: ReplayWorldOptions) {
    this.#options = options;
    this.harness = new Harness({ catalogue: {} });
  }

  static async open(options: ReplayWorldOptions = {}): Promise<ReplayWorld> {
    const world = new ReplayWorld(options);
    const rows = pastRuns(options);
    options.prepare?.(rows);
    await world.#commit((into) => {
      for (const { key, value } of rows.range({ prefix: [] })) into.put(key, value);
    });
    await world.restart();
    await world.connect();
    const place = { lineId, stationId: "sta_work" };
    const opened = await world.askSets({ type: "set.open", name: "A set", ...place });
    world.setId = (opened as { readonly setId: string }).setId;
    for (let n = 1; n <= (options.runs ?? 2); n++) {
      const added = await world.askSets({ type: "entry.add", setId: world.setId, runId: `run_${n}` });
      if (isRefusal(added)) throw new Error(JSON.stringify(added));
    }
    return world;
  }

  /** Kills the process and writes rows. Then starts another process, and connects the runner to the new process. */
  async write(work: (rows: ReturnType<typeof memoryRows>) => void): Promise<void> {
    this.harness.crash();
    await this.#commit((rows) => work(rows));
    await this.restart();
    await this.connect();
  }

  async #commit(work: (rows: ReturnType<typeof memoryRows>) => void): Promise<void> {
    const rows = memoryRows();
    work(rows);
    const changes = rows.range({ prefix: [] }).map(({ key, value }) => ({ op: "put", key, value }) as const);
    const stored = this.harness.disk.open().commit(changes);
    await this.harness.advance();
    await stored;
  }

  /** Starts a process on the current disk. */
  async restart(): Promise<void> {
    const { retention, judging } = this.#options;
    const actors = createActorTypes(kinds, { ...(retention && { retention }), ...(judging && { judging }) });
    const effects = [retentionEffect({ clock: this.harness.world.clock }), modelEffect(this.#model())];
    await this.harness.start({ actors, effects, subscribers });
  }

  #model(): Model | null {
    const { model, judging } = this.#options;
    const terms = judging?.terms ?? null;
    if (model === undefined || terms === null) return null;
    const { clock } = this.harness.world;
    const complete: Model["complete"] = (request) =>
      new Promise((resolve) => {
        clock.at(clock.now() + 3_000, () => resolve(model(request)));
      });
    return { settings: { ...terms, url: "http://localhost", key: null }, complete, noteUnreadable: () => undefined };
  }

  /** Connects the runner as a new process, without the claims of the previous process. */
  async connect(slots = this.#options.slots ?? 1): Promise<Welcome> {
    this.#process += 1;
    this.#connection = `connection_${this.#process}`;
    this.#said = 0;
    const hello = {
      instance: `process-${this.#process}-0123456789`,
      name: "peer",
      version: "1",
      labels: [],
      harnesses: ["command"],
      slots,
      received: 0,
      claims: [],
      features: [...RUNNER_FEATURES],
    };
    const message = { type: "runner.hello", connection: this.#connection, poolId: POOL, leaseMs: LEASE_MS, hello };
    return (await this.harness.ask(runnerRef(workspaceId, "runner_1"), message)) as Welcome;
  }

  askSets(message: Message & Readonly<Record<string, unknown>>): Promise<unknown> {
    return this.harness.ask(replaySetsRef(workspaceId, teamId), { caller, client: null, ...message } as Message);
  }

  async start(of: Readonly<Record<string, unknown>> = {}): Promise<ReplayStarted> {
    const answer = await this.tryStart(of);
    if (isRefusal(answer)) throw new Error(JSON.stringify(answer));
    return answer;
  }

  async tryStart(of: Readonly<Record<string, unknown>> = {}): Promise<ReplayStarted | Refusal> {
    const asked = { candidate: "live", ceiling: { amount: 10, currency: "EUR" }, repeats: 1, ...of };
    return (await this.askSets({ type: "replay.start", setId: this.setId, ...asked })) as ReplayStarted | Refusal;
  }

  stop(id: string): Promise<unknown> {
    return this.harness.ask(replayRef(workspaceId, id), { type: "replay.stop", caller, client: null } as Message);
  }

  /** Returns the runner's new jobs, each once. Skips runs that have ended. */
  jobs(): readonly GivenJob[] {
    const { durable } = this.harness;
    return outbox.list(durable, workspaceId, ["runner_1"]).flatMap((message) => {
      if (message.type !== "run.assign" || this.#taken.has(message.runId)) return [];
      if ((runs.get(durable, workspaceId, message.runId)?.state ?? "ended") === "ended") return [];
      this.#taken.add(message.runId);
      return [{ runId: message.runId, fence: message.fence }];
    });
  }

  /** Returns the runner's only job. */
  job(): GivenJob {
    const [job, ...more] = this.jobs();
    if (job === undefined || more.length > 0) throw new Error(`there are ${more.length + Number(!!job)} jobs`);
    return job;
  }

  async say(job: GivenJob, message: { readonly type: string } & Readonly<Record<string, unknown>>): Promise<void> {
    this.#said += 1;
    const said = { ...message, runId: job.runId, fence: job.fence };
    const of = { type: "runner.said", connection: this.#connection, n: this.#said, ack: 0, message: said };
    await this.harness.ask(runnerRef(workspaceId, "runner_1"), of);
  }

  begin(job: GivenJob): Promise<void> {
    return this.say(job, { type: "run.started" });
  }

  /** Completes the agent's run at this cost. The cost is null if the agent reports no cost. */
  async end(job: GivenJob, amount: number | null = 1, report: EndReport = {}): Promise<void> {
    const spent = amount === null ? null : { amount, currency: "EUR" };
    const left = { failure: null, checkouts: [], check: null, spent, ending: { kind: "finish", note: "" } };
    await this.say(job, { type: "run.ended", outcome: "completed", ...left, ...report });
  }

  /** Starts and completes the job as the runner. */
  async work(job: GivenJob, amount: number | null = 1, report: EndReport = {}): Promise<void> {
    await this.begin(job);
    await this.end(job, amount, report);
  }

  /** Works on jobs until there are no more jobs; returns the number of jobs. */
  async workAll(amount: number | null = 1): Promise<number> {
    let count = 0;
    for (let jobs = this.jobs(); jobs.length > 0; jobs = this.jobs()) {
      for (const job of jobs) await this.work(job, amount);
      count += jobs.length;
    }
    return count;
  }

  /** Sends a heartbeat as the runner, and advances time until the service answers. */
  async connectedAsk(): Promise<void> {
    const beat = { type: "runner.beat", connection: this.#connection, ack: 0 };
    await this.harness.ask(runnerRef(workspaceId, "runner_1"), beat);
  }

  allReplays(): readonly ReplayRow[] {
    return replays.list(this.harness.durable, workspaceId);
  }

  allSets(): readonly ReplaySetRow[] {
    return replaySets.list(this.harness.durable, workspaceId);
  }

  replay(id: string): ReplayRow | undefined {
    return replays.get(this.harness.durable, workspaceId, id);
  }

  copies(id: string): readonly ReplayCopyRow[] {
    return listCopies(this.harness.durable, workspaceId, id);
  }

  /** Returns the outcomes of the replays' runs, sorted. For a run that has not ended, returns its state. */
  runStates(): readonly string[] {
    const owned = runs.list(this.harness.durable, workspaceId).filter(({ owner }) => owner.kind === "replay");
    return owned.map(({ state, outcome }) => outcome ?? state).sort();
  }

  /** Returns the log entries: crashed turns and dead-lettered messages. */
  complaints(): readonly unknown[] {
    return this.harness.logged;
  }
}

/** Returns the rows of a team with past runs `run_1`, `run_2` and so on, each of a different task. */
export function pastRuns({ runs: count = 2, station = {}, line: fields = {}, candidates = {} }: ReplayWorldOptions) {
  const work = new SteppedWork();
  const { rows, runId } = work;
  const [first, second] = line.stations;
  work.claim();
  work.say({ type: "run.started", bases: [{ repository: "acme/app", base: base("a") }] });
  work.complete("review");
  work.putLine({ ...fields, stations: [{ ...first, ...station }, second] });
  putPool(rows, POOL);
  for (const [id, changes] of Object.entries(candidates)) {
    const { id: _id, ...block } = { ...first, ...station, ...changes } as Station;
    const fields = { name: `The ${id} one`, station: block };
    resources.put(rows, workspaceId, ["replay-candidate", id], {
      kind: "replay-candidate",
      id,
      version: 1,
      workspaceId,
      teamId,
      address: `core/dev/work/${id}`,
      fields,
      hidden: {},
      added: { lineId, stationId: "sta_work", kind: "proposed" },
      createdAt: "",
      updatedAt: "",
    });
  }
  const task = tasks.get(rows, workspaceId, "task_1");
  const run = runs.get(rows, workspaceId, runId);
  const input = runInputs.get(rows, workspaceId, runId);
  if (task === undefined || run === undefined || input === undefined) throw new Error("there is no past run");
  for (let n = 1; n <= count; n++) {
    const taskId = `task_${n}`;
    if (n > 1) tasks.insert(rows, workspaceId, { ...task, id: taskId, title: `Do ${n}` });
    runs.insert(rows, workspaceId, { ...run, id: `run_${n}`, taskId, owner: { kind: "task", id: taskId } });
    const { beginning } = input;
    const checkouts = [{ repository: "acme/app", base: base((n % 10).toString()), diff: null }];
    const begun = beginning === null ? null : { ...beginning, checkouts };
    runInputs.insert(rows, workspaceId, { ...input, runId: `run_${n}`, beginning: begun });
  }
  return rows;
}
