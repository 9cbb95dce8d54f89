import type { NetworkRequests } from "../../actors/outbound/network-requests.js";
import { findPoolByToken, type PoolBearer } from "../../actors/runners/pool-token.js";
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
import { type Sealer, sha256Hex } from "../../actors/sealer.js";
import type { Runtime } from "../../runtime/runtime.js";
import { listenTo } from "../../runtime/topic.js";
import { bearerToken } from "../authenticate.js";
import type { Socket, SocketHandler, SocketRoute } from "../transport/socket.js";
import { BAD_FRAME, type EndConnection, NOT_ADMITTED, REPLACED } from "./close-codes.js";
import { InboundFrames } from "./inbound-frames.js";
import { RunnerNetworkHost } from "./network-host.js";
import { OutboxSender } from "./outbox-sender.js";

export interface RunnerSocketOptions {
  readonly runtime: Runtime;
  readonly sealer: Sealer;
  readonly leaseMs: number;
  /** Has hosts of the workspaces make requests. */
  readonly network: NetworkRequests;
}

/** How often the token of an open connection is looked at again, in milliseconds. */
const RECHECK_MS = 5_000;

/** Where runners connect, with their pool's token as bearer; the protocol says what is spoken. */
export function runnerSocket(options: RunnerSocketOptions): SocketRoute {
  return {
    path: "/api/runner",
    summary: "Runners connect here",
    credentials: ["pool"],
    maxMessageBytes: MAX_FRAME_BYTES,
    open: async (request) => {
      const token = bearerToken(request.header("authorization"));
      const tokenHash = sha256Hex(token ?? "");
      const { reading, clock } = options.runtime;
      const pool = token === null ? null : findPoolByToken(reading, tokenHash, clock.now());
      if (pool === null) return { refused: "unauthenticated", detail: "This needs the token of a runner pool." };
      return {
        holder: pool.poolId,
        open: (socket) => new RunnerConnection(options, { ...pool, tokenHash }, socket),
      };
    },
  };
}

type HelloFrame = Extract<RunnerFrame, { frame: "hello" }>;

/** A frame that comes after the hello. */
type LaterFrame = Exclude<RunnerFrame, { frame: "hello" }>;

/**
 * One socket of a runner. It owns no state that matters: what was taken and what is to be sent stands in the actor and
 * its outbox. What comes is {@link InboundFrames}', what goes is {@link OutboxSender}'s.
 *
 * Nothing is taken or sent under a token that admits no more: it is looked at before each frame, either way, and in
 * between.
 */
class RunnerConnection implements SocketHandler {
  readonly #options: RunnerSocketOptions;
  readonly #pool: PoolBearer & { readonly tokenHash: string };
  readonly #socket: Socket;
  readonly #connection: string;
  readonly #inbound: InboundFrames;
  readonly #network: RunnerNetworkHost;
  /** Set by the hello. */
  #runner: RunnerKey | null = null;
  #outbox: OutboxSender | null = null;
  #unlisten: (() => void) | null = null;
  /** The number of the last message that was taken. */
  #received = 0;
  /** Set once the connection is closed or being closed: nothing is taken or sent after that. */
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
    this.#outbox?.flush();
  }

  closed(): void {
    this.#hasEnded = true;
    this.#network.leave();
    this.#cancelRecheck();
    this.#unlisten?.();
    // A hello under way is taken first: its runner has to be told too that the socket is gone.
    this.#inbound.closed(() => this.#leave());
  }

  async #leave(): Promise<void> {
    const left: RunnerLeft = { type: "runner.left", connection: this.#connection };
    if (this.#runner !== null) await this.#options.runtime.ask(toRef(this.#runner), left);
  }

  async #take(frame: RunnerFrame): Promise<void> {
    if (frame.frame === "hello") return this.#hello(frame);
    if (this.#runner === null) return this.#end(BAD_FRAME, "a hello comes first");
    if (this.#isAdmitted()) await this.#takeFrom(this.#runner, frame);
  }

  async #takeFrom(runner: RunnerKey, frame: LaterFrame): Promise<void> {
    const { runtime } = this.#options;
    const connection = this.#connection;
    switch (frame.frame) {
      case "message": {
        const { n, ack, message } = frame;
        const said: RunnerReported = { type: "runner.said", connection, n, ack, message };
        await runtime.ask(toRef(runner), said);
        this.#received = Math.max(this.#received, n);
        return this.#send({ frame: "ack", ack: this.#received });
      }
      case "beat": {
        const beat: RunnerBeat = { type: "runner.beat", connection, ack: frame.ack };
        await runtime.ask(toRef(runner), beat);
        return this.#send({ frame: "ack", ack: this.#received, beat: frame.beat });
      }
      case "response":
        return this.#network.answer(frame);
      case "ack":
        return undefined;
    }
  }

  async #hello(frame: HelloFrame): Promise<void> {
    if (!this.#isAdmitted()) return;
    if (frame.protocol !== RUNNER_PROTOCOL) {
      return this.#end(BAD_FRAME, `this service speaks protocol ${RUNNER_PROTOCOL}`);
    }
    if (this.#runner !== null) return this.#end(BAD_FRAME, "there was a hello already");
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
      // One that names none may be of a release that takes no such member.
      ...(frame.features === undefined ? {} : { features: [...RUNNER_FEATURES] }),
    });
    this.#openOutbox(runner, frame);
    if (makesRequests === true) this.#joinNetwork(workspaceId);
  }

  #openOutbox(runner: RunnerKey, { features = [], received }: HelloFrame): void {
    const { runtime, sealer } = this.#options;
    const outbox = new OutboxSender({
      ...{ runtime, runner, features, received, socket: this.#socket, end: this.#end },
      source: { reading: runtime.reading, sealer },
      acknowledged: () => this.#received,
      isOpen: () => !this.#hasEnded,
      isAdmitted: () => this.#isAdmitted(),
    });
    this.#outbox = outbox;
    const { workspaceId, runnerId } = runner;
    this.#unlisten = listenTo(runtime.feed, workspaceId, runnerTopic(runnerId), (news) => {
      const isReplaced = "connection" in news && news.connection !== this.#connection;
      if (isReplaced) this.#end(REPLACED, "the runner connected anew");
      else outbox.flush();
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

  /** Whether the token admits to the pool still; one that does not, whatever else it admits to, ends the connection. */
  #isAdmitted(): boolean {
    const { reading, clock } = this.#options.runtime;
    const { tokenHash, poolId } = this.#pool;
    if (findPoolByToken(reading, tokenHash, clock.now())?.poolId === poolId) return true;
    this.#end(NOT_ADMITTED, "the pool's token is not valid any more");
    return false;
  }

  #recheckLater(): void {
    const { clock } = this.#options.runtime;
    this.#cancelRecheck = clock.at(clock.now() + RECHECK_MS, () => {
      if (!this.#hasEnded && this.#isAdmitted()) this.#recheckLater();
    });
  }

  #send(frame: ServiceFrame): void {
    if (!this.#hasEnded) this.#socket.send(JSON.stringify(frame));
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
  // Nothing waits yet.
}
