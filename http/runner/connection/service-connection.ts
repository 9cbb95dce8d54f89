import type { IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import { z } from "zod";
import { readJson } from "../../../actors/exact-json.js";
import {
  MAX_FRAME_BYTES,
  RUNNER_PROTOCOL,
  type RunnerFeature,
  type RunnerFrame,
  type RunnerMessage,
  type ServiceFrame,
  type ServiceMessage,
  serviceFrameSchema,
} from "../../../actors/runners/protocol.js";
import type { Clock } from "../../../runtime/clock.js";
import type { RetainedReport } from "../archives/retained-report.js";
import type { WantedCommits } from "../archives/wanted-commits.js";
import { type Credential, NoCredential } from "./credential.js";
import { Lease } from "./lease.js";
import { Outbox } from "./outbox.js";

/** The runner's description of itself in each hello. */
export type Hello = Omit<Extract<RunnerFrame, { frame: "hello" }>, "frame" | "protocol" | "runnerId" | "received">;
export type Claim = Hello["claims"][number];
type Request = Extract<ServiceFrame, { frame: "request" }>;
type Response = Extract<RunnerFrame, { frame: "response" }>;

export interface ServiceConnectionOptions {
  /** The service's base URL. */
  readonly url: string;
  readonly credential: Credential;
  readonly clock: Clock;
  /** A random number in [0, 1), to spread reconnects. */
  readonly random: () => number;
  readonly hello: () => Hello;
  /** Called once for each message from the service, in order. */
  readonly take: (message: ServiceMessage) => void;
  /**
   * Called for each request that the service wants the runner to make. The runner sends the response only over the
   * connection on which the request arrived.
   */
  readonly make: (request: Request) => Promise<Response>;
  /** The report of retained commits, and the search for commits that the service wants. */
  readonly commits: {
    readonly kept: Pick<RetainedReport, "begin" | "report" | "release">;
    readonly wanted: Pick<WantedCommits, "add">;
  };
  /** Called with the claims that the service has ended. */
  readonly drop: (claims: readonly Claim[]) => void;
  /**
   * Called when the service acknowledged no heartbeat for a whole lease. The service then gives all claims to other
   * runners.
   */
  readonly leaseOver: () => void;
  readonly log: (line: string) => void;
  /**
   * Called instead of a retry if the service refuses the token before its first welcome. Such a token is wrong. After a
   * welcome, a refused token may have been rotated, so the runner retries.
   */
  readonly refused?: (() => void) | undefined;
}

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 15_000;
/** Maximum wait after a rejected token, in milliseconds. */
const REFUSED_WAIT_MS = 30_000;
/** Time limit for the welcome, in milliseconds. */
const WELCOME_MS = 10_000;
/** Minimum interval between log lines about a connection that keeps failing, in milliseconds. */
const LOG_INTERVAL_MS = 60_000;
/** Close code when the pool token is no longer valid. */
const NOT_ADMITTED = 4401;

/**
 * The runner's side of the protocol. Owns the message numbers of both directions, and the unacknowledged messages.
 *
 * 1. The runner stores each message until the service acknowledges it, and sends it again after each welcome until
 * then.
 * 2. The runner handles each message from the service once, by its number.
 * 3. If the service acknowledges no heartbeat for a whole lease, the runner calls {@link
 * ServiceConnectionOptions.leaseOver} once, gives up its claims and closes the connection. A hello or heartbeat in
 * transit could still name these claims and renew them. The next hello, on a new connection, no longer names them.
 * 4. If the service does not answer a heartbeat or a hello, the runner reconnects.
 * 5. During a lease, the wait between attempts is at most half a heartbeat interval, unless the service rejected the
 * token. So the runner keeps its runs when the service is down for a short time.
 */
export class ServiceConnection {
  readonly #options: ServiceConnectionOptions;
  readonly #outbox = new Outbox();
  readonly #lease: Lease;
  #socket: WebSocket | null = null;
  #runnerId: string | null = null;
  #welcomed = false;
  #helloMs = 0;
  #received = 0;
  #failures = 0;
  /** When the runner last logged that the connection failed. */
  #loggedMs = 0;
  #features: readonly string[] = [];
  #closed = false;
  #cancelRetry: () => void = () => undefined;
  /** Cancels the wait for the welcome or, later, for the next heartbeat. */
  #cancelBeat: () => void = () => undefined;

  constructor(options: ServiceConnectionOptions) {
    this.#options = options;
    this.#lease = new Lease(options.clock, () => this.#leaseOver());
  }

  /** Connects, and reconnects whenever the connection is lost, until closed. */
  open(): void {
    const { credential, log } = this.#options;
    credential.token().then(
      (token) => {
        if (!this.#closed) this.#connect(token);
      },
      (error: unknown) => {
        log(error instanceof NoCredential ? error.message : "there is no token to connect with");
        this.#lost(error instanceof NoCredential && error.isRefusal);
      },
    );
  }

  #connect(token: string): void {
    const { url, credential, log } = this.#options;
    const socket = new WebSocket(`${url.replace(/^http/, "ws").replace(/\/$/, "")}/api/runner`, {
      headers: { authorization: `Bearer ${token}` },
      maxPayload: MAX_FRAME_BYTES,
      handshakeTimeout: WELCOME_MS,
      perMessageDeflate: false,
    });
    this.#socket = socket;
    let refused = false;
    socket.on("open", () => this.#sendHello());
    // Ignore a welcome that arrives after the runner closed the connection: it would begin a lease that nothing ends.
    socket.on("message", (data) => {
      if (!this.#closed) this.#handleFrame(data.toString());
    });
    socket.on("unexpected-response", (_request, response) => {
      const { statusCode: status } = response;
      refused = status === 401;
      if (refused) credential.refused();
      void readDetail(response).then((detail) => {
        const answered = `the service responded with status ${status}${detail === "" ? "" : `: ${detail}`}`;
        log(`cannot connect to ${url}: ${refused ? "the service rejected the pool token" : answered}`);
        socket.terminate();
      });
    });
    socket.on("error", (error) => {
      if (!refused && !this.#closed) this.#sayFailed(`the connection to ${url} failed: ${error.message}`);
    });
    socket.on("close", (code, reason) => {
      if (code === NOT_ADMITTED) {
        // Reconnect soon: there may be a new token. If the service rejects the new token too, the runner retries
        // slowly.
        credential.refused();
        log(`the service closed the connection: ${reason.toString()}`);
      }
      this.#lost(refused);
    });
  }

  /** Sends a message. It is delivered exactly once, across reconnects. */
  send(message: RunnerMessage): void {
    const n = this.#outbox.add(message);
    if (this.#welcomed) this.#post(n, message);
  }

  /** The id that the service assigned to this runner; null before the first welcome. */
  get runnerId(): string | null {
    return this.#runnerId;
  }

  /** Reports retained commits to the service. If a frame is lost, the report after the next welcome replaces it. */
  sendRetained(frame: Extract<RunnerFrame, { frame: "kept" }>): void {
    if (this.#welcomed) this.#frame(frame);
  }

  /** Back-pressure: resolves when the outbox is below its limits, or when `signal` is aborted. */
  waitForCapacity(signal: AbortSignal): Promise<void> {
    return this.#outbox.waitForCapacity(signal);
  }

  /** Whether the service supports this optional feature, according to its last welcome. */
  knows(feature: RunnerFeature): boolean {
    return this.#features.includes(feature);
  }

  /** Whether the runner is disconnected and has no unacknowledged messages. */
  get isIdleAndAway(): boolean {
    return !this.#welcomed && this.#outbox.entries.length === 0;
  }

  /** Resolves when all sent messages are acknowledged, or when the connection is closed. */
  settled(): Promise<void> {
    return this.#outbox.settled();
  }

  close(): void {
    this.#closed = true;
    this.#cancelRetry();
    this.#cancelBeat();
    this.#lease.end();
    this.#socket?.close(1000, "the runner is shutting down");
    this.#outbox.close();
  }

  /**
   * Logs the first failure, and then at most one line per {@link LOG_INTERVAL_MS}, because an outage may last for days.
   */
  #sayFailed(line: string): void {
    const now = this.#options.clock.now();
    if (this.#failures > 0 && now - this.#loggedMs < LOG_INTERVAL_MS) return;
    this.#loggedMs = now;
    this.#options.log(`${line}; retrying`);
  }

  #leaseOver(): void {
    this.#options.leaseOver();
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.terminate();
  }

  #sendHello(): void {
    const { clock, log } = this.#options;
    this.#helloMs = clock.now();
    const hello = { ...this.#options.hello(), claims: this.#claims() };
    const received = this.#received;
    this.#frame({ frame: "hello", protocol: RUNNER_PROTOCOL, runnerId: this.#runnerId, received, ...hello });
    this.#cancelBeat = clock.at(clock.now() + WELCOME_MS, () => {
      log("the service did not answer the hello: reconnecting");
      this.#socket?.terminate();
    });
  }

  /**
   * Lists the runner's claims. A claim stays in the list until the service acknowledges the report of the run's end.
   */
  #claims(): Claim[] {
    const claims = new Map(this.#options.hello().claims.map((claim) => [claim.runId, claim]));
    for (const { message } of this.#outbox.entries) {
      if (message.type === "run.ended" && !claims.has(message.runId)) {
        claims.set(message.runId, { runId: message.runId, fence: message.fence });
      }
    }
    return [...claims.values()];
  }

  #handleFrame(text: string): void {
    const frame = parseFrame(text);
    if (frame === null) {
      this.#options.log(
        "the service sent a frame that this runner does not know. Check that the service and this runner are the " +
          "same release",
      );
      this.#socket?.close(4400, "unknown frame");
      return undefined;
    }
    switch (frame.frame) {
      case "welcome":
        return this.#welcome(frame);
      case "message":
        return this.#taken(frame);
      case "ack":
        this.#outbox.acknowledged(frame.ack);
        return frame.beat === undefined ? undefined : this.#beatAnswered(frame.beat);
      case "request":
        return this.#make(frame);
      case "released":
        return this.#options.commits.kept.release(frame.commits);
      case "wanted":
        return this.#options.commits.wanted.add(frame.commits);
      case "error":
        return this.#options.log(`error from the service: ${frame.message}`);
    }
  }

  #beatAnswered(beat: number): void {
    this.#lease.acknowledged(beat);
    if (this.knows("commits") && this.#outbox.entries.length === 0) this.#options.commits.kept.report();
  }

  #make(request: Request): void {
    const socket = this.#socket;
    this.#options.make(request).then((response) => {
      if (this.#socket === socket) this.#frame(response);
    }, noop);
  }

  #taken(frame: Extract<ServiceFrame, { frame: "message" }>): void {
    this.#outbox.acknowledged(frame.ack);
    if (frame.n > this.#received) {
      this.#received = frame.n;
      this.#options.take(frame.message);
    }
    this.#frame({ frame: "ack", ack: this.#received });
  }

  #welcome(frame: Extract<ServiceFrame, { frame: "welcome" }>): void {
    this.#options.log(`connected ${this.#runnerId === frame.runnerId ? "again " : ""}as ${frame.runnerId}`);
    this.#runnerId = frame.runnerId;
    this.#features = frame.features ?? [];
    this.#failures = 0;
    this.#welcomed = true;
    this.#options.commits.kept.begin();
    this.#lease.begin(frame.leaseSeconds * 1_000, this.#helloMs);
    this.#outbox.acknowledged(frame.received);
    this.#options.drop(frame.claims.filter(({ verdict }) => verdict === "drop"));
    for (const { n, message } of this.#outbox.entries) this.#post(n, message);
    this.#beatLater();
  }

  #beatLater(): void {
    this.#cancelBeat();
    const { clock, log } = this.#options;
    this.#cancelBeat = clock.at(clock.now() + this.#lease.beatMs, () => {
      if (this.#lease.isWaiting) {
        log("the service does not respond: reconnecting");
        this.#socket?.terminate();
        return;
      }
      this.#frame({ frame: "beat", ack: this.#received, claims: this.#claims(), beat: this.#lease.beat() });
      this.#beatLater();
    });
  }

  #post(n: number, message: RunnerMessage): void {
    this.#frame({ frame: "message", n, ack: this.#received, message });
  }

  #frame(frame: RunnerFrame): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(frame));
  }

  /** The maximum wait between attempts. It is short during a lease, so that several attempts fit into the lease. */
  get #longestWaitMs(): number {
    return this.#lease.holds ? Math.min(LONGEST_WAIT_MS, this.#lease.beatMs / 2) : LONGEST_WAIT_MS;
  }

  #lost(refused: boolean): void {
    if (this.#welcomed && !this.#closed) this.#options.log("lost the service, retrying");
    this.#welcomed = false;
    this.#cancelBeat();
    if (this.#closed) return;
    const { clock, random, log, refused: onRefused } = this.#options;
    if (refused && this.#runnerId === null && onRefused !== undefined) return onRefused();
    const maxWait = refused ? REFUSED_WAIT_MS : Math.min(this.#longestWaitMs, FIRST_WAIT_MS * 2 ** this.#failures);
    const wait = maxWait * (0.5 + random() / 2);
    if (refused)
      log(
        `retrying in ${Math.round(wait / 1_000)} seconds, and then repeatedly, in case the service accepts the token ` +
          "later",
      );
    this.#failures += 1;
    this.#cancelRetry = clock.at(clock.now() + wait, () => this.open());
  }
}

function noop(): void {
  // Send no response: the request then times out at the service.
}

function parseFrame(text: string): ServiceFrame | null {
  try {
    const parsed = serviceFrameSchema.safeParse(readJson(text));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

/** Maximum length of a rejected connection's response body that the runner reads, in characters. */
const MAX_PROBLEM = 4_096;

/**
 * Returns the `detail` of the problem with which the service rejects a connection, or an empty text. Destroys the
 * response.
 */
async function readDetail(response: IncomingMessage): Promise<string> {
  response.setTimeout(WELCOME_MS, () => response.destroy());
  let text = "";
  try {
    for await (const chunk of response.setEncoding("utf8")) {
      text += String(chunk);
      if (text.length > MAX_PROBLEM) return "";
    }
    return problem.parse(JSON.parse(text)).detail;
  } catch {
    return "";
  } finally {
    response.destroy();
  }
}

const problem = z.object({ detail: z.string() });
