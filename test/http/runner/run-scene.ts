import { existsSync, mkdtempSync, readFileSync, rmSync, watch } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Test } from "tap";
import type { Job } from "../../../actors/runners/job.js";
import { RUNNER_FEATURES, type RunnerMessage } from "../../../actors/runners/protocol.js";
import { poolToken } from "../../../http/runner/connection/credential.js";
import { type Runner, startRunner } from "../../../http/runner/runner.js";
import { ManualClock } from "../../support/manual-clock.js";
import { layRepository } from "../../support/repository.js";
import { ProtocolService } from "./protocol-service.js";

type Message<T extends RunnerMessage["type"]> = Extract<RunnerMessage, { type: T }>;

/** The parts of a job that a test sets; {@link toJob} fills in the rest. */
export interface JobWish {
  readonly runId?: string;
  readonly fence?: number;
  /** The agent, as a shell script. */
  readonly agent?: string;
  readonly station?: Partial<Job["station"]>;
  readonly harness?: Partial<Job["harness"]>;
  readonly timeoutMinutes?: number;
  readonly checkouts?: readonly Partial<Job["checkouts"][number]>[];
  /** The job's terms for a replay or a search; none by default. */
  readonly replay?: Job["replay"];
  readonly search?: Job["search"];
  readonly push?: Job["push"];
  readonly tools?: Job["tools"];
  readonly task?: Partial<Job["task"]>;
}

export interface SceneWish {
  /** A folder made by {@link sceneFolder}. */
  readonly folder?: string;
  readonly passEnv?: readonly string[];
  /** The address of repositories; by default the scene's folder. */
  readonly gitUrl?: string;
  /** The command of runs that do not name a command. */
  readonly command?: readonly string[];
  /** The protocol features that the service announces; all of them by default. */
  readonly features?: readonly string[];
}

/**
 * A real runner connected to a service that the test drives, over real git repositories `acme/app` and `acme/other`.
 * The time does not advance until the test advances it.
 */
export class RunScene {
  readonly folder: string;
  readonly service: ProtocolService;
  readonly clock: ManualClock;
  readonly runner: Runner;
  /** The runner's log lines for its operator. */
  readonly said: readonly string[];

  private constructor(made: Pick<RunScene, "folder" | "service" | "clock" | "runner" | "said">) {
    this.folder = made.folder;
    this.service = made.service;
    this.clock = made.clock;
    this.runner = made.runner;
    this.said = made.said;
  }

  static async start(t: Test, more: SceneWish = {}): Promise<RunScene> {
    const folder = more.folder ?? sceneFolder(t);
    const service = await ProtocolService.start(t);
    const clock = new ManualClock();
    const said: string[] = [];
    const runner = await startRunner({
      url: service.url,
      credential: poolToken(service.token),
      name: "tester",
      labels: [],
      slots: 4,
      command: [...(more.command ?? [])],
      passEnv: [...(more.passEnv ?? [])],
      workFolder: join(folder, "work"),
      gitUrl: more.gitUrl ?? join(folder, "repositories/{name}"),
      clock,
      random: () => 0.5,
      instance: "0123456789abcdef",
      log: (line) => said.push(line),
    });
    t.teardown(() => runner.kill());
    await service.frame("hello");
    service.welcome({ leaseSeconds: 86_400, features: [...(more.features ?? RUNNER_FEATURES)] });
    return new RunScene({ folder, service, clock, runner, said });
  }

  /** Assigns the runner a job, without waiting. */
  assign(wish: JobWish): Job {
    const job = toJob(wish);
    this.service.tell({ type: "run.assign", job });
    return job;
  }

  /** Assigns the runner a job and waits for its end. */
  async work(wish: JobWish): Promise<Message<"run.ended">> {
    const { runId } = this.assign(wish);
    return this.message("run.ended", (ended) => ended.runId === runId);
  }

  /** Resolves with the first message of this type for which `fits` returns true. */
  message<T extends RunnerMessage["type"]>(
    type: T,
    fits: (message: Message<T>) => boolean = () => true,
  ): Promise<Message<T>> {
    return this.service.until(() => this.messages(type).find(fits));
  }

  /** Returns the messages of a type received so far. */
  messages<T extends RunnerMessage["type"]>(type: T): Message<T>[] {
    return this.service.arrived.flatMap(({ frame }) =>
      frame.frame === "message" && isOf(frame.message, type) ? [frame.message] : [],
    );
  }

  /** Returns every step so far, as `kind: text`. */
  steps(): string[] {
    return this.messages("run.step").map(({ step }) => `${step.kind}: ${step.text}`);
  }

  /** Answers the handover at this index among the run's handovers. */
  async answerHandover(place: number, refused: string | null): Promise<Message<"run.handover">> {
    const asked = await this.service.until(() => this.messages("run.handover")[place]);
    const { runId, fence, id } = asked;
    this.service.tell({ type: "run.handover-answered", runId, fence, id, refused });
    return asked;
  }

  path(name: string): string {
    return join(this.folder, name);
  }
}

/** Returns a job for the command harness, by default with one checkout of `acme/app`. */
export function toJob(wish: JobWish): Job {
  const { runId = "run_1", fence = 1, agent = "true", timeoutMinutes = 60, checkouts = [{}] } = wish;
  return {
    runId,
    fence,
    workspaceId: "ws_1",
    timeoutMinutes,
    ...(wish.replay === undefined ? {} : { replay: wish.replay }),
    ...(wish.search === undefined ? {} : { search: wish.search }),
    ...(wish.push === undefined ? {} : { push: wish.push }),
    ...(wish.tools === undefined ? {} : { tools: wish.tools }),
    task: {
      id: "task_1",
      title: "Do it",
      description: "All of it.",
      url: "http://127.0.0.1/tasks/1",
      notes: [],
      ...wish.task,
    },
    line: { key: "dev", name: "Dev" },
    station: {
      key: "work",
      name: "Work",
      kind: "work",
      prompt: "Work well.",
      model: null,
      effort: null,
      check: null,
      passesTo: ["review"],
      next: [],
      ...wish.station,
    },
    harness: {
      name: "command",
      args: ["/bin/sh", "-c", agent],
      env: {},
      secrets: {},
      missingSecrets: [],
      ...wish.harness,
    },
    skills: [],
    checkouts: checkouts.map((checkout) => ({
      repository: "acme/app",
      setup: null,
      image: null,
      base: null,
      diff: "",
      ...checkout,
    })),
  };
}

function isOf<T extends RunnerMessage["type"]>(message: RunnerMessage, type: T): message is Message<T> {
  return message.type === type;
}

/** Creates a folder with the repositories; the test's end removes it. */
export function sceneFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-runner-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }));
  for (const name of ["acme/app", "acme/other"]) layRepository(join(folder, "repositories", name));
  return folder;
}

/** Resolves with a file's text once it ends with a newline. */
export async function readFile(path: string): Promise<string> {
  const read = () => (existsSync(path) ? readFileSync(path, "utf8") : "");
  const watcher = watch(dirname(path));
  try {
    for (;;) {
      const changed = new Promise((resolve) => watcher.once("change", resolve));
      const text = read();
      if (text.endsWith("\n")) return text;
      await changed;
    }
  } finally {
    watcher.close();
  }
}

/** Whether a process runs; an exited process that is not yet reaped does not count. */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
  } catch {
    return false;
  }
}
