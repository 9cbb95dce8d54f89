import type { NetworkHost, NetworkRequests } from "../../actors/outbound/network-requests.js";
import { findPoolByToken, type PoolBearer } from "../../actors/runners/pool-token.js";
import {
  MAX_FRAME_BYTES,
  RUNNER_FEATURES,
  RUNNER_PROTOCOL,
  type RunnerFrame,
  runnerFrameSchema,
  type ServiceFrame,
  type ServiceMessage,
} from "../../actors/runners/protocol.js";
import {
  type RunnerBeat,
  type RunnerHello,
  type RunnerLeft,
  type RunnerSaid,
  runnerTopic,
  type Welcome,
} from "../../actors/runners/runner.messages.js";
import { type OutboxMessage, outbox, runners } from "../../actors/runners/runner.table.js";
import { buildJob, type JobSource } from "../../actors/runs/job.js";
import type { JobUndeliverable } from "../../actors/runs/run.messages.js";
import { type Sealer, sha256Hex } from "../../actors/sealer.js";
import { type Address, address } from "../../runtime/address.js";
import { NotAccepted, type Runtime } from "../../runtime/runtime.js";
import { bearerToken } from "../authenticate.js";
import type { Socket, SocketHandler, SocketRoute } from "../transport/socket.js";

export interface RunnerSocketOptions {
  readonly runtime: Runtime;
  readonly sealer: Sealer;
  readonly leaseMs: number;
  /** Has hosts of the workspaces make requests. */
  readonly network: NetworkRequests;
}

/** Close codes of this endpoint; 4000 to 4999 are an application's own (RFC 6455, 7.4.2). */
const BAD_FRAME = 4400;
const NOT_ADMITTED = 4401;
const REPLACED = 4409;
const AGAIN = 4503;

/** How often the token of an open connection is looked at again, in milliseconds. */
const RECHECK_MS = 5_000;

/**
 * Frames, and characters of them, that wait until those before them are taken. It is more than a runner keeps
 * unacknowledged, which it sends all at once when it comes again.
 */
const MOST_WAITING = 4_096;
const MOST_WAITING_CHARACTERS = 2 * MAX_FRAME_BYTES;

/** Why a job cannot be sent, for a person. */
const TOO_LARGE = "What the task has changed and what was said on it are too large to be sent to a runner.";
const NOT_KNOWN = "The runner is of a release that only works for tasks.";

const RUNNER_ID = /^runner_[0-9A-Z]{26}$/;

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

/**
 * One socket of a runner. It owns no state that matters: what was taken and what is to be sent stands in the actor and
 * its outbox.
 *
 * 1. Every frame is handed on in the order it came, and none after one that was not taken: its sender sends it again,
 *    and a later number taken before it would make it one seen already.
 * 2. Nothing is taken or sent under a token that admits no more: it is looked at before each frame, either way, and in
 *    between.
 * 3. What came and was not taken yet is bounded. Past that nothing more is taken; the connection is closed once the rest
 *    is, so that its runner goes on from there when it comes again.
 */
class RunnerConnection implements SocketHandler {
  readonly #runtime: Runtime;
  readonly #source: JobSource;
  readonly #leaseMs: number;
  readonly #network: NetworkRequests;
  #host: NetworkHost | null = null;
  readonly #pool: PoolBearer & { readonly tokenHash: string };
  readonly #socket: Socket;
  readonly #connection: string;
  #runner: Address | null = null;
  #unlisten: (() => void) | null = null;
  /** What the runner knows of the protocol's additions. */
  #features: readonly string[] = [];
  #sent = 0;
  #received = 0;
  #turn: Promise<void> = Promise.resolve();
  #waiting = 0;
  #waitingCharacters = 0;
  #isFull = false;
  /** Set once the connection is closed or being closed: nothing is taken or sent after that. */
  #hasEnded = false;
  /** Set while a run is told that its job cannot be sent. */
  #isHeld = false;
  #cancelRecheck: () => void = noop;

  constructor(options: RunnerSocketOptions, pool: PoolBearer & { readonly tokenHash: string }, socket: Socket) {
    this.#runtime = options.runtime;
    this.#source = { reading: options.runtime.reading, sealer: options.sealer };
    this.#leaseMs = options.leaseMs;
    this.#network = options.network;
    this.#pool = pool;
    this.#socket = socket;
    this.#connection = options.runtime.newId("con");
    this.#recheckLater();
  }

  message(text: string): void {
    if (this.#isFull || this.#hasEnded) return;
    this.#isFull = this.#waiting >= MOST_WAITING || this.#waitingCharacters + text.length > MOST_WAITING_CHARACTERS;
    if (this.#isFull) return this.#inTurn(async () => this.#end(AGAIN, "too much was sent at once: try again"));
    const frame = parseFrame(text);
    if (frame === null) return this.#end(BAD_FRAME, "this is no frame of the runner protocol");
    this.#waiting += 1;
    this.#waitingCharacters += text.length;
    this.#inTurn(async () => {
      this.#waiting -= 1;
      this.#waitingCharacters -= text.length;
      await this.#take(frame);
    });
  }

  #inTurn(work: () => Promise<void>): void {
    this.#turn = this.#turn
      .then(() => (this.#hasEnded ? undefined : work()))
      .catch((error: unknown) => {
        // A runner that is not taken now comes again; a bug is the runtime's to log.
        this.#end(AGAIN, error instanceof NotAccepted ? "another connection took over" : "try again");
      });
  }

  drained(): void {
    this.#flush();
  }

  closed(): void {
    this.#hasEnded = true;
    this.#leaveNetwork();
    this.#cancelRecheck();
    this.#unlisten?.();
    // A hello under way is taken first: its runner has to be told too that the socket is gone.
    this.#turn = this.#turn.then(() => this.#leave()).then(noop, noop);
  }

  async #leave(): Promise<void> {
    const left: RunnerLeft = { type: "runner.left", connection: this.#connection };
    if (this.#runner !== null) await this.#runtime.ask(this.#runner, left);
  }

  async #take(frame: RunnerFrame): Promise<void> {
    if (frame.frame === "hello") return this.#hello(frame);
    const runner = this.#runner;
    if (runner === null) return this.#end(BAD_FRAME, "a hello comes first");
    if (!this.#isAdmitted()) return;
    const connection = this.#connection;
    switch (frame.frame) {
      case "message": {
        const said: RunnerSaid = {
          type: "runner.said",
          connection,
          n: frame.n,
          ack: frame.ack,
          message: frame.message,
        };
        await this.#runtime.ask(runner, said);
        this.#received = Math.max(this.#received, frame.n);
        return this.#send({ frame: "ack", ack: this.#received });
      }
      case "beat": {
        const beat: RunnerBeat = { type: "runner.beat", connection, ack: frame.ack };
        await this.#runtime.ask(runner, beat);
        return this.#send({ frame: "ack", ack: this.#received, beat: frame.beat });
      }
      case "response":
        return this.#respond(frame);
      case "ack":
        return undefined;
    }
  }

  async #hello(frame: Extract<RunnerFrame, { frame: "hello" }>): Promise<void> {
    if (!this.#isAdmitted()) return;
    if (frame.protocol !== RUNNER_PROTOCOL) {
      return this.#end(BAD_FRAME, `this service speaks protocol ${RUNNER_PROTOCOL}`);
    }
    if (this.#runner !== null) return this.#end(BAD_FRAME, "there was a hello already");
    const { workspaceId, poolId } = this.#pool;
    const { frame: _frame, protocol: _protocol, runnerId: known, makesRequests, ...hello } = frame;
    const runnerId = known !== null && this.#mayBe(known) ? known : this.#runtime.newId("runner");
    const runner = address(workspaceId, "runner", runnerId);
    const connection = this.#connection;
    const message: RunnerHello = { type: "runner.hello", connection, poolId, leaseMs: this.#leaseMs, hello };
    const welcome = (await this.#runtime.ask(runner, message)) as Welcome;
    this.#runner = runner;
    if (this.#hasEnded) return;
    this.#sent = frame.received;
    this.#received = welcome.received;
    this.#features = frame.features ?? [];
    this.#send({
      frame: "welcome",
      runnerId,
      received: welcome.received,
      leaseSeconds: this.#leaseMs / 1_000,
      claims: [...welcome.claims],
      // One that names none may be of a release that takes no such member.
      ...(frame.features === undefined ? {} : { features: [...RUNNER_FEATURES] }),
    });
    this.#unlisten = this.#runtime.feed.listen(workspaceId, runnerTopic(runnerId).name, ({ data }) => this.#hear(data));
    this.#flush();
    if (makesRequests === true) this.#joinNetwork(workspaceId);
  }

  #joinNetwork(workspaceId: string): void {
    this.#host = {
      workspaceId,
      send: (request) => {
        if (this.#hasEnded || this.#socket.bufferedBytes > MAX_FRAME_BYTES || !this.#isAdmitted()) return false;
        this.#send({ frame: "request", ...request, headers: { ...request.headers } });
        return true;
      },
    };
    this.#network.join(this.#host);
  }

  #respond({ id, answer, failure }: Extract<RunnerFrame, { frame: "response" }>): void {
    if (this.#host === null) return;
    const nothing = { ok: false, code: "errored", reason: "the host said nothing of it" } as const;
    const failed = failure === null ? nothing : ({ ok: false, ...failure } as const);
    this.#network.answered(this.#host, id, answer === null ? failed : { ok: true, answer });
  }

  #leaveNetwork(): void {
    if (this.#host !== null) this.#network.leave(this.#host);
    this.#host = null;
  }

  /**
   * Whether a runner of this pool may go by the id. It is addressed in the pool's workspace, so an id of another one is
   * nobody's here; one of another pool's runner would take that runner's claims away.
   */
  #mayBe(runnerId: string): boolean {
    const { workspaceId, poolId } = this.#pool;
    const known = runners.get(this.#runtime.reading, workspaceId, runnerId);
    return RUNNER_ID.test(runnerId) && (known === undefined || known.poolId === poolId);
  }

  #hear(data: unknown): void {
    const { connection } = data as { readonly connection?: string };
    if (connection !== undefined && connection !== this.#connection) this.#end(REPLACED, "the runner connected anew");
    else this.#flush();
  }

  /** Sends what waits in the outbox, as far as the peer takes it. */
  #flush(): void {
    const runner = this.#runner;
    if (runner === null || this.#hasEnded || this.#isHeld) return;
    const { workspaceId } = this.#pool;
    const waiting = outbox.entries(this.#runtime.reading, workspaceId, [runner.id], {
      after: [runner.id, this.#sent],
    });
    for (const { key, value } of waiting) {
      if (this.#socket.bufferedBytes > MAX_FRAME_BYTES) return;
      // A job is for a token that admits still; the word to drop one reaches its runner all the same.
      if (value.type === "run.assign" && !this.#isAdmitted()) return;
      const n = Number(key[key.length - 1]);
      const message = this.#toMessage(value);
      const frame = JSON.stringify(this.#numbered(n, message));
      if (!this.#knows(message)) return this.#giveUpJob(value, NOT_KNOWN);
      if (Buffer.byteLength(frame) > MAX_FRAME_BYTES) return this.#giveUpJob(value, TOO_LARGE);
      this.#sent = n;
      this.#socket.send(frame);
    }
  }

  #numbered(n: number, message: ServiceMessage): ServiceFrame {
    return { frame: "message", n, ack: this.#received, message };
  }

  /** Whether the runner is of a release that takes the message. */
  #knows(message: ServiceMessage): boolean {
    return message.type !== "run.assign" || message.job.task !== undefined || this.#features.includes("taskless");
  }

  /** A job that cannot be sent ends its run; nothing is sent past it until then, so that its number is not lost. */
  #giveUpJob({ runId, fence }: OutboxMessage, why: string): void {
    const message: JobUndeliverable = { type: "job.undeliverable", fence, why };
    this.#isHeld = true;
    this.#runtime.ask(address(this.#pool.workspaceId, "run", runId), message).then(
      () => {
        this.#isHeld = false;
        this.#flush();
      },
      () => this.#end(AGAIN, "try again"),
    );
  }

  /** A job is built, its secrets opened, only here. One whose claim is over becomes the word to drop it. */
  #toMessage(message: OutboxMessage): ServiceMessage {
    if (message.type !== "run.assign") return message;
    const { runId, fence } = message;
    const job = buildJob(this.#source, this.#pool.workspaceId, { runId, fence });
    return job === undefined ? { type: "run.drop", runId, fence } : { type: "run.assign", job };
  }

  /** Whether the token admits to the pool still; one that does not, whatever else it admits to, ends the connection. */
  #isAdmitted(): boolean {
    const { reading, clock } = this.#runtime;
    const { tokenHash, poolId } = this.#pool;
    if (findPoolByToken(reading, tokenHash, clock.now())?.poolId === poolId) return true;
    this.#end(NOT_ADMITTED, "the pool's token is not valid any more");
    return false;
  }

  #recheckLater(): void {
    const { clock } = this.#runtime;
    this.#cancelRecheck = clock.at(clock.now() + RECHECK_MS, () => {
      if (!this.#hasEnded && this.#isAdmitted()) this.#recheckLater();
    });
  }

  #send(frame: ServiceFrame): void {
    if (!this.#hasEnded) this.#socket.send(JSON.stringify(frame));
  }

  #end(code: number, reason: string): void {
    this.#send({ frame: "error", message: reason });
    this.#hasEnded = true;
    this.#leaveNetwork();
    this.#socket.close(code, reason);
  }
}

function noop(): void {
  // What becomes of a connection that is gone concerns nobody.
}

function parseFrame(text: string): RunnerFrame | null {
  try {
    const parsed = runnerFrameSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}
