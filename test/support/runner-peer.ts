import { once } from "node:events";
import type WebSocket from "ws";
import type { Job } from "../../actors/runners/job.js";
import {
  RUNNER_FEATURES,
  RUNNER_PROTOCOL,
  type RunnerFrame,
  type RunnerMessage,
  type ServiceFrame,
  type ServiceMessage,
  type Spent,
  serviceFrameSchema,
} from "../../actors/runners/protocol.js";
import type { Client } from "./service.js";

type Hello = Extract<RunnerFrame, { frame: "hello" }>;
type EndReport = Extract<RunnerMessage, { type: "run.ended" }>;
type PermissionWish = Omit<Extract<RunnerMessage, { type: "run.permission" }>, "type" | "runId" | "fence">;
type Claim = Pick<Job, "runId" | "fence">;
type FrameOf<Name extends ServiceFrame["frame"]> = Extract<ServiceFrame, { frame: Name }>;
type MessageOf<Type extends ServiceMessage["type"]> = Extract<ServiceMessage, { type: Type }>;

/** A service that a runner connects to. */
interface RunnerSite {
  withToken(token: string): Pick<Client, "socket">;
}

/**
 * The runner's side of the protocol on a real socket, driven by the test. It accepts only frames that match the schema.
 */
export class RunnerPeer {
  readonly frames: ServiceFrame[] = [];
  readonly #socket: WebSocket;
  #n = 0;
  #beats = 0;
  /** The message number of the last job. */
  #lastJob = 0;
  /** The number of the last service message. */
  #received = 0;
  #closed: { readonly code: number; readonly reason: string } | null = null;
  readonly #watchers = new Set<() => void>();

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data) => {
      const frame = serviceFrameSchema.parse(JSON.parse(data.toString()));
      if (frame.frame === "message") this.#received = frame.n;
      this.frames.push(frame);
      this.#look();
    });
    socket.on("close", (code, reason) => {
      this.#closed = { code, reason: reason.toString() };
      this.#look();
    });
    socket.on("error", () => undefined);
  }

  /** Connects with the pool's token; rejects if the service refuses it. */
  static async connect(service: RunnerSite, token: string): Promise<RunnerPeer> {
    const socket = service.withToken(token).socket("/api/runner");
    const peer = new RunnerPeer(socket);
    await new Promise<void>((resolve, reject) => socket.once("open", () => resolve()).once("error", reject));
    return peer;
  }

  /** Connects and says hello; by default as a new runner with one slot and the harness `command`. */
  static async join(service: RunnerSite, token: string, said: Partial<Hello> = {}): Promise<RunnerPeer> {
    const peer = await RunnerPeer.connect(service, token);
    peer.hello(said);
    await peer.frame("welcome");
    return peer;
  }

  hello(said: Partial<Hello> = {}): void {
    this.post({
      frame: "hello",
      protocol: RUNNER_PROTOCOL,
      runnerId: null,
      instance: "0123456789abcdef",
      name: "peer",
      version: "1",
      labels: [],
      harnesses: ["command"],
      slots: 1,
      received: 0,
      claims: [],
      features: [...RUNNER_FEATURES],
      ...said,
    });
  }

  /** Sends a message with the next number, or the number given. */
  say(message: RunnerMessage, n = this.#n + 1): void {
    this.#n = n;
    this.post({ frame: "message", n, ack: this.#received, message });
  }

  /** Renews the lease; resolves when the service has answered. */
  async beat(): Promise<void> {
    this.#beats += 1;
    const beat = this.#beats;
    this.post({ frame: "beat", ack: this.#received, claims: [], beat });
    await this.#until((frame) => (frame.frame === "ack" && frame.beat === beat ? frame : undefined));
  }

  /** Resolves with the first frame of this name at or after index `from`. */
  frame<Name extends ServiceFrame["frame"]>(name: Name, from = 0): Promise<FrameOf<Name>> {
    return this.#until((frame) => (frame.frame === name ? (frame as FrameOf<Name>) : undefined), from);
  }

  /** Resolves with the first message of this type at or after index `from`. */
  message<Type extends ServiceMessage["type"]>(type: Type, from = 0): Promise<MessageOf<Type>> {
    return this.#until(
      (frame) =>
        frame.frame === "message" && frame.message.type === type ? (frame.message as MessageOf<Type>) : undefined,
      from,
    );
  }

  /** Resolves with the next job; returns each job once. */
  job(): Promise<Job> {
    return this.#until((frame) => {
      if (frame.frame !== "message" || frame.message.type !== "run.assign") return undefined;
      if (frame.n <= this.#lastJob) return undefined;
      this.#lastJob = frame.n;
      return frame.message.job;
    });
  }

  start({ runId, fence }: Claim): void {
    this.say({ type: "run.started", runId, fence });
  }

  step({ runId, fence }: Claim, index: number, spent: Spent | null = null): void {
    const step = { index, kind: "message", text: `step ${index}`, tool: null, spent } as const;
    this.say({ type: "run.step", runId, fence, step });
  }

  /** Reports that the agent received the messages up to the n-th. */
  heard({ runId, fence }: Claim, n: number): void {
    this.say({ type: "run.heard", runId, fence, n });
  }

  /** Requests approval of a tool call; the answer arrives as a message. */
  askPermission({ runId, fence }: Claim, wish: Partial<PermissionWish> = {}): void {
    const usual = { id: "1-1", tool: "shell", inputs: '{"command":"ls"}', reason: "To look." };
    this.say({ type: "run.permission", runId, fence, ...usual, ...wish });
  }

  /** Returns all messages of this type so far, in order. */
  messages<Type extends ServiceMessage["type"]>(type: Type): MessageOf<Type>[] {
    return this.frames.flatMap((frame) =>
      frame.frame === "message" && frame.message.type === type ? [frame.message as MessageOf<Type>] : [],
    );
  }

  /** Requests a handover. Returns the reason of a refusal, or null if the service accepts the handover. */
  async askHandover({ runId, fence }: Claim, to: string, note = ""): Promise<string | null> {
    const from = this.frames.length;
    this.say({ type: "run.handover", runId, fence, id: `h-${from}`, to, note });
    return (await this.message("run.handover-answered", from)).refused;
  }

  /** Requests a handover, and ends the run with this handover. */
  async handOver(claim: Claim, to: string, note = ""): Promise<void> {
    const refused = await this.askHandover(claim, to, note);
    if (refused !== null) throw new Error(refused);
    this.end(claim, { ending: { kind: "handover", to, note } });
  }

  /** Reports the end of a run. By default, the run is completed without a handover. */
  end({ runId, fence }: Claim, report: Partial<EndReport> = {}): void {
    const left = { failure: null, checkouts: [], check: null, spent: null };
    this.say({ type: "run.ended", runId, fence, outcome: "completed", ending: null, ...left, ...report });
  }

  /** Resolves when the service has acknowledged message `n`. */
  async taken(n: number): Promise<void> {
    await this.#until((frame) => (frame.frame === "ack" && frame.ack >= n ? frame : undefined));
  }

  /** Resolves when the service has received everything sent so far. */
  async arrived(): Promise<void> {
    const answered = once(this.#socket, "pong");
    this.#socket.ping();
    await answered;
  }

  async closed(): Promise<{ readonly code: number; readonly reason: string }> {
    while (this.#closed === null) await this.#more();
    return this.#closed;
  }

  /** Drops the connection without a close frame. */
  cut(): void {
    this.#socket.terminate();
  }

  post(frame: RunnerFrame): void {
    this.#socket.send(JSON.stringify(frame));
  }

  async #until<Found>(look: (frame: ServiceFrame) => Found | undefined, from = 0): Promise<Found> {
    for (let at = from; ; ) {
      for (; at < this.frames.length; at++) {
        const frame = this.frames[at];
        const found = frame === undefined ? undefined : look(frame);
        if (found !== undefined) return found;
      }
      if (this.#closed !== null) throw new Error(`closed with ${this.#closed.code} ${this.#closed.reason}`);
      await this.#more();
    }
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      const watcher = () => {
        this.#watchers.delete(watcher);
        resolve();
      };
      this.#watchers.add(watcher);
    });
  }

  #look(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }
}
