import { wantedTopic } from "../../actors/archives/archive.messages.js";
import { listWanted } from "../../actors/archives/archive.queries.js";
import { writeJson } from "../../actors/exact-json.js";
import type { NetworkRequests } from "../../actors/outbound/http/network-requests.js";
import type { RepositoryCommit } from "../../actors/runners/commit-frames.js";
import type { PoolBearer } from "../../actors/runners/pool-token.js";
import {
  MAX_FRAME_BYTES,
  RUNNER_FEATURES,
  RUNNER_PROTOCOL,
  type RunnerFrame,
  type ServiceFrame,
} from "../../actors/runners/protocol.js";
import {
  type RunnerBeat,
  type RunnerHello,
  type RunnerLeft,
  type RunnerReported,
  runnerRef,
  runnerTopic,
} from "../../actors/runners/runner.messages.js";
import { mayReturnAs, type RunnerKey } from "../../actors/runners/runner.queries.js";
import { isCommitNeeded } from "../../actors/runs/run.queries.js";
import { type Sealer, sha256Hex } from "../../actors/sealer.js";
import { listenTo } from "../../runtime/feeds/topic.js";
import { isDamage, type Runtime } from "../../runtime/runtime.js";
import { bearerToken } from "../access/authenticate.js";
import type { ExpiredCredentials } from "../access/expired-credentials.js";
import { findPool } from "../access/pool-bearer.js";
import type { Socket, SocketHandler, SocketRoute } from "../wire/socket.js";
import { AGAIN, BAD_FRAME, type EndConnection, NOT_ADMITTED, REPLACED } from "./close-codes.js";
import { InboundFrames } from "./inbound-frames.js";
import { RunnerNetworkHost } from "./network-host.js";
import { OutboxSender } from "./outbox-sender.js";
import type { MakePushToken } from "./push-token.js";

export interface RunnerSocketOptions {
  readonly runtime: Runtime;
  readonly sealer: Sealer;
  readonly expired: ExpiredCredentials;
  readonly leaseMs: number;
  /** Sends requests through runners, in the runners' networks. */
  readonly network: NetworkRequests;
  /** Creates push tokens; null if no code host is configured. */
  readonly pushTokens: MakePushToken | null;
}

/** Interval between checks of an open connection's token, in milliseconds. */
const RECHECK_MS = 5_000;

/** The WebSocket endpoint of runners. They authenticate with their pool's token. See `actors/runners/protocol.ts`. */
export function runnerSocket(options: RunnerSocketOptions): SocketRoute {
  return {
    path: "/api/runner",
    summary: "Connect a runner to the service",
    description: "The runner program speaks this protocol; other clients do not need it.",
    credentials: ["pool"],
    isServedReadOnly: false,
    maxMessageBytes: MAX_FRAME_BYTES,
    open: async (request) => {
      const token = bearerToken(request.header("authorization"));
      const tokenHash = sha256Hex(token ?? "");
      const pool = token === null ? null : findPool(options, tokenHash);
      if (pool === null) return { refused: "unauthenticated", detail: "This endpoint requires a runner pool token." };
      return {
        holder: pool.poolId,
        open: (socket) => new RunnerConnection(options, { ...pool, tokenHash }, socket),
      };
    },
  };
}

type HelloFrame = Extract<RunnerFrame, { frame: "hello" }>;

/** A frame after the hello. */
type LaterFrame = Exclude<RunnerFrame, { frame: "hello" }>;

/**
 * One runner socket. It owns no durable state: the runner's actor and its outbox store the received and outgoing
 * messages. {@link InboundFrames} queues frames from the runner, {@link OutboxSender} sends frames to it.
 *
 * With an invalid token, no frame of the runner is handled, and no job, push order, request or wanted commit is sent.
 * The token is also checked periodically.
 */
class RunnerConnection implements SocketHandler {
  readonly #options: RunnerSocketOptions;
  readonly #pool: PoolBearer & { readonly tokenHash: string };
  readonly #socket: Socket;
  readonly #connection: string;
  readonly #inbound: InboundFrames;
  readonly #network: RunnerNetworkHost;
  /** The runner; null before the hello. */
  #runner: RunnerKey | null = null;
  #outbox: OutboxSender | null = null;
  #unlisten: (() => void) | null = null;
  #unlistenWanted: () => void = noop;
  /** The number of the last message that was handled. */
  #received = 0;
  /** The number of the last message that was passed on to the actor; null before the first. */
  #handedOver: number | null = null;
  #isAckPlanned = false;
  /** Whether the connection is closed or closing. Nothing is handled or sent after that. */
  #hasEnded = false;
  #cancelRecheck: () => void = noop;

  constructor(options: RunnerSocketOptions, pool: PoolBearer & { readonly tokenHash: string }, socket: Socket) {
    this.#options = options;
    this.#pool = pool;
    this.#socket = socket;
    this.#connection = options.runtime.newId("con");
    this.#network = new RunnerNetworkHost(options.network);
    this.#inbound = new InboundFrames({
      take: (frame) => this.#take(frame),
      isOpen: () => !this.#hasEnded,
      end: this.#end,
    });
    this.#recheckLater();
  }

  message(text: string): void {
    this.#inbound.add(text);
  }

  drained(): void {
    this.#unlessDamaged(() => this.#outbox?.flush());
  }

  closed(): void {
    this.#hasEnded = true;
    this.#network.leave();
    this.#cancelRecheck();
    this.#unlisten?.();
    this.#unlistenWanted();
    // Run this after a hello that is still being handled: the runner of that hello must be notified of the close too.
    this.#inbound.closed(() => this.#disconnect());
  }

  async #disconnect(): Promise<void> {
    const left: RunnerLeft = { type: "runner.left", connection: this.#connection };
    if (this.#runner !== null) await this.#options.runtime.ask(toRef(this.#runner), left);
  }

  async #take(frame: RunnerFrame): Promise<void> {
    if (frame.frame === "hello") return this.#hello(frame);
    if (this.#runner === null) return this.#end(BAD_FRAME, "the first frame must be a hello");
    if (this.#isAdmitted()) await this.#takeFrom(this.#runner, frame);
  }

  async #takeFrom(runner: RunnerKey, frame: LaterFrame): Promise<void> {
    const { runtime } = this.#options;
    const connection = this.#connection;
    switch (frame.frame) {
      case "message": {
        const { n, ack, message } = frame;
        const follows = this.#handedOver === null ? {} : { follows: this.#handedOver };
        const report: RunnerReported = { type: "runner.said", connection, n, ack, ...follows, message };
        this.#handedOver = n;
        await runtime.ask(toRef(runner), report);
        this.#received = Math.max(this.#received, n);
        return this.#acknowledge();
      }
      case "beat": {
        const beat: RunnerBeat = { type: "runner.beat", connection, ack: frame.ack };
        await runtime.ask(toRef(runner), beat);
        return this.#send({ frame: "ack", ack: this.#received, beat: frame.beat });
      }
      case "response":
        return this.#network.answer(frame);
      case "kept":
        return this.#send(toReleased(runtime.reading, runner.workspaceId, frame.commits));
      case "ack":
        return undefined;
    }
  }

  async #hello(frame: HelloFrame): Promise<void> {
    if (!this.#isAdmitted()) return;
    if (frame.protocol !== RUNNER_PROTOCOL) {
      return this.#end(BAD_FRAME, `this service supports protocol ${RUNNER_PROTOCOL}`);
    }
    if (this.#runner !== null) return this.#end(BAD_FRAME, "a hello was already sent");
    const { runtime, leaseMs } = this.#options;
    const { workspaceId, poolId } = this.#pool;
    const { frame: _frame, protocol: _protocol, runnerId: known, makesRequests, ...hello } = frame;
    const isKnown = known !== null && mayReturnAs(runtime.reading, this.#pool, known);
    const runner = { workspaceId, runnerId: isKnown ? known : runtime.newId("runner") };
    const message: RunnerHello = { type: "runner.hello", connection: this.#connection, poolId, leaseMs, hello };
    const welcome = await runtime.ask(toRef(runner), message);
    this.#runner = runner;
    if (this.#hasEnded) return;
    this.#received = welcome.received;
    this.#send({
      frame: "welcome",
      runnerId: runner.runnerId,
      received: welcome.received,
      leaseSeconds: leaseMs / 1_000,
      claims: [...welcome.claims],
      // Omit the field for a runner that sends no features, because its release may reject the field.
      ...(frame.features === undefined ? {} : { features: [...RUNNER_FEATURES] }),
    });
    this.#openOutbox(runner, frame);
    if (makesRequests === true) this.#joinNetwork(workspaceId);
    if (frame.features?.includes("commits") === true) this.#tellWanted(runner);
  }

  /** Sends the commits that are wanted now, and from then on each newly wanted commit. */
  #tellWanted(runner: RunnerKey): void {
    const { feed, reading } = this.#options.runtime;
    const tell = (wanted: ServiceFrame | null) =>
      this.#unlessDamaged(() => {
        if (wanted !== null && this.#socket.bufferedBytes <= MAX_FRAME_BYTES && this.#isAdmitted()) this.#send(wanted);
      });
    this.#unlistenWanted = listenForWanted(feed, runner, tell);
    this.#unlessDamaged(() => tell(toWanted(reading, runner.workspaceId)));
  }

  #openOutbox(runner: RunnerKey, { features = [], received }: HelloFrame): void {
    const { runtime, sealer } = this.#options;
    const outbox = new OutboxSender({
      runtime,
      runner,
      features,
      received,
      socket: this.#socket,
      end: this.#end,
      source: { reading: runtime.reading, sealer },
      pushTokens: this.#options.pushTokens,
      acknowledged: () => this.#received,
      isOpen: () => !this.#hasEnded,
      isAdmitted: () => this.#isAdmitted(),
    });
    this.#outbox = outbox;
    const { workspaceId, runnerId } = runner;
    this.#unlisten = listenTo(runtime.feed, workspaceId, runnerTopic(runnerId), (news) => {
      const isReplaced = "connection" in news && news.connection !== this.#connection;
      if (isReplaced) this.#end(REPLACED, "the runner opened a new connection");
      else if ("connection" in news || !outbox.hasSent(news.n)) this.#unlessDamaged(() => outbox.flush());
    });
    outbox.flush();
  }

  #joinNetwork(workspaceId: string): void {
    this.#network.join(workspaceId, (request) => {
      if (this.#hasEnded || this.#socket.bufferedBytes > MAX_FRAME_BYTES || !this.#isAdmitted()) return false;
      this.#send({ frame: "request", ...request, headers: { ...request.headers } });
      return true;
    });
  }

  /** Whether the token is still valid for this pool. If not, closes the connection. */
  #isAdmitted(): boolean {
    const { tokenHash, poolId } = this.#pool;
    if (findPool(this.#options, tokenHash)?.poolId === poolId) return true;
    this.#end(NOT_ADMITTED, "the pool token is not valid");
    return false;
  }

  #recheckLater(): void {
    const { clock } = this.#options.runtime;
    this.#cancelRecheck = clock.at(clock.now() + RECHECK_MS, () => {
      this.#unlessDamaged(() => {
        if (!this.#hasEnded && this.#isAdmitted()) this.#recheckLater();
      });
    });
  }

  /** Closes the connection if `work` reads a damaged row. */
  #unlessDamaged(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.#options.runtime.damageMet(error);
      this.#end(AGAIN, "stored data is damaged");
    }
  }

  /** Acknowledges handled messages. Messages that were stored together get one acknowledgement. */
  #acknowledge(): void {
    if (this.#isAckPlanned) return;
    this.#isAckPlanned = true;
    queueMicrotask(() => {
      this.#isAckPlanned = false;
      this.#send({ frame: "ack", ack: this.#received });
    });
  }

  #send(frame: ServiceFrame): void {
    if (!this.#hasEnded) this.#socket.send(writeJson(frame));
  }

  readonly #end: EndConnection = (code, reason) => {
    this.#send({ frame: "error", message: reason });
    this.#hasEnded = true;
    this.#network.leave();
    this.#socket.close(code, reason);
  };
}

function toRef({ workspaceId, runnerId }: RunnerKey) {
  return runnerRef(workspaceId, runnerId);
}

function noop(): void {
  // The initial cancel function: there is nothing to cancel yet.
}

/**
 * Returns the answer to a `kept` frame. The answer has those of the frame's commits that no stored run needs any more.
 */
function toReleased(reading: Runtime["reading"], workspaceId: string, kept: readonly RepositoryCommit[]): ServiceFrame {
  return { frame: "released", commits: kept.filter((commit) => !isCommitNeeded(reading, workspaceId, commit)) };
}

/** Returns a frame with the commits that runners should look for now; null if there are none. */
function toWanted(reading: Runtime["reading"], workspaceId: string): ServiceFrame | null {
  const commits = listWanted(reading, workspaceId).map((wanted) => ({ ...wanted, mayFetch: false }));
  return commits.length === 0 ? null : { frame: "wanted", commits };
}

/** Calls `tell` for each commit that is requested from now on. Returns a function that stops these calls. */
function listenForWanted(
  feed: Runtime["feed"],
  { workspaceId, runnerId }: RunnerKey,
  tell: (wanted: ServiceFrame) => void,
): () => void {
  return listenTo(feed, workspaceId, wantedTopic(workspaceId), ({ runnerId: named, ...wanted }) =>
    tell({ frame: "wanted", commits: [{ ...wanted, mayFetch: named === runnerId }] }),
  );
}
