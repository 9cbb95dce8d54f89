import { WebSocket } from "ws";
import {
  MAX_FRAME_BYTES,
  RUNNER_PROTOCOL,
  type RunnerFrame,
  type RunnerMessage,
  type ServiceFrame,
  type ServiceMessage,
  serviceFrameSchema,
} from "../../actors/runners/protocol.js";
import type { Clock } from "../../runtime/clock.js";

/** What the runner says of itself at each hello. */
export type Hello = Omit<Extract<RunnerFrame, { frame: "hello" }>, "frame" | "protocol" | "runnerId" | "received">;

export interface ConnectionOptions {
  /** The service's base URL. */
  readonly url: string;
  readonly token: string;
  readonly clock: Clock;
  /** In [0, 1): spreads reconnects. */
  readonly random: () => number;
  readonly hello: () => Hello;
  /** Called once for each message of the service, in order. */
  readonly take: (message: ServiceMessage) => void;
  /** Claims that the service says are over. */
  readonly drop: (runIds: readonly string[]) => void;
  /** Nothing was heard for a whole lease: the service has given every claim to others, or will. */
  readonly leaseOver: () => void;
  readonly say: (line: string) => void;
}

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 15_000;
/** Wait after a token that was not taken, in milliseconds. */
const REFUSED_WAIT_MS = 10_000;
/** How long the service may take to welcome, in milliseconds. */
const WELCOME_WAIT_MS = 10_000;
/** Messages kept unacknowledged before {@link Connection.room} makes their makers wait; in characters of JSON too. */
const OUTBOX_ROOM = 1_000;
const OUTBOX_CHARACTERS = 16 * 1024 * 1024;

/**
 * The runner's end of the protocol. It owns the numbers of both directions and what is not yet acknowledged:
 *
 * 1. A message is kept until the service has acknowledged it, and sent again after each welcome until then.
 * 2. A message of the service is taken once, by its number.
 * 3. When nothing was heard for a lease, {@link ConnectionOptions.leaseOver} is called, once.
 * 4. A connection that brings nothing for two thirds of a lease is given up, and another one made.
 */
export class Connection {
  readonly #options: ConnectionOptions;
  #socket: WebSocket | null = null;
  #runnerId: string | null = null;
  #welcomed = false;
  #n = 0;
  #received = 0;
  #leaseMs = 30_000;
  #heardMs = 0;
  readonly #outbox = new Map<number, { readonly message: RunnerMessage; readonly characters: number }>();
  #waiting = 0;
  #waiters: (() => void)[] = [];
  #failures = 0;
  #closed = false;
  #cancelRetry: () => void = () => undefined;
  #cancelBeat: () => void = () => undefined;
  #cancelLease: () => void = () => undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Connects, and again whenever the connection is lost, until closed. */
  open(): void {
    const { url, token } = this.#options;
    const socket = new WebSocket(`${url.replace(/^http/, "ws").replace(/\/$/, "")}/api/runner`, {
      headers: { authorization: `Bearer ${token}` },
      maxPayload: MAX_FRAME_BYTES,
      handshakeTimeout: 10_000,
    });
    this.#socket = socket;
    let refused = false;
    socket.on("open", () => this.#sayHello(socket));
    socket.on("message", (data) => this.#hear(data.toString()));
    socket.on("unexpected-response", (_request, response) => {
      refused = response.statusCode === 401;
      const why = refused ? "the pool token is not taken" : `the service answered ${response.statusCode}`;
      this.#options.say(`cannot connect to ${url}: ${why}`);
      response.destroy();
      socket.terminate();
    });
    socket.on("error", (error) => {
      if (this.#failures === 0) this.#options.say(`the connection to ${url} failed: ${error.message}`);
    });
    socket.on("close", (code, reason) => {
      if (code === 4401) this.#options.say(`the service ended the connection: ${reason.toString()}`);
      this.#lost(refused || code === 4401);
    });
  }

  /** Sends a message; it arrives once, whatever becomes of the connection. */
  send(message: RunnerMessage): void {
    this.#n += 1;
    const characters = JSON.stringify(message).length;
    this.#outbox.set(this.#n, { message, characters });
    this.#waiting += characters;
    if (this.#welcomed) this.#post(this.#n, message);
  }

  /** Resolves when there is room for more messages. */
  async room(): Promise<void> {
    while ((this.#outbox.size >= OUTBOX_ROOM || this.#waiting >= OUTBOX_CHARACTERS) && !this.#closed) {
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  /** Resolves when everything that was sent is acknowledged. */
  async settled(): Promise<void> {
    while (this.#outbox.size > 0 && !this.#closed) {
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  close(): void {
    this.#closed = true;
    this.#cancelRetry();
    this.#cancelBeat();
    this.#cancelLease();
    this.#socket?.close(1000, "the runner is going away");
    this.#wake();
  }

  #sayHello(socket: WebSocket): void {
    const { clock } = this.#options;
    this.#cancelBeat = clock.at(clock.now() + WELCOME_WAIT_MS, () => socket.terminate());
    const hello = { ...this.#options.hello(), claims: this.#claims() };
    const received = this.#received;
    this.#frame({ frame: "hello", protocol: RUNNER_PROTOCOL, runnerId: this.#runnerId, received, ...hello });
  }

  /** A claim is held until its end is acknowledged, not only until the work is done. */
  #claims(): Hello["claims"] {
    const claims = new Map(this.#options.hello().claims.map((claim) => [claim.runId, claim]));
    for (const { message } of this.#outbox.values()) {
      if (message.type === "run.ended" && !claims.has(message.runId)) {
        claims.set(message.runId, { runId: message.runId, fence: message.fence });
      }
    }
    return [...claims.values()];
  }

  #hear(text: string): void {
    const frame = parseFrame(text);
    if (frame === null) {
      this.#options.say("the service sent a frame that this runner does not know; is it of another release?");
      this.#socket?.close(4400, "unknown frame");
      return;
    }
    this.#heardMs = this.#options.clock.now();
    switch (frame.frame) {
      case "welcome":
        return this.#welcome(frame);
      case "message":
        this.#acknowledged(frame.ack);
        return this.#take(frame.n, frame.message);
      case "ack":
        return this.#acknowledged(frame.ack);
      case "error":
        return this.#options.say(`the service says: ${frame.message}`);
    }
  }

  #take(n: number, message: ServiceMessage): void {
    const isNew = n > this.#received;
    if (isNew) this.#received = n;
    this.#frame({ frame: "ack", ack: this.#received });
    if (isNew) this.#options.take(message);
  }

  #welcome(frame: Extract<ServiceFrame, { frame: "welcome" }>): void {
    if (this.#runnerId === null) this.#options.say(`connected as ${frame.runnerId}`);
    this.#runnerId = frame.runnerId;
    this.#leaseMs = frame.leaseSeconds * 1_000;
    this.#failures = 0;
    this.#welcomed = true;
    this.#acknowledged(frame.received);
    this.#options.drop(frame.claims.flatMap(({ runId, verdict }) => (verdict === "drop" ? [runId] : [])));
    for (const [n, { message }] of this.#outbox) this.#post(n, message);
    this.#beatLater();
    this.#watchLease();
  }

  #beatLater(): void {
    this.#cancelBeat();
    const { clock } = this.#options;
    this.#cancelBeat = clock.at(clock.now() + this.#leaseMs / 3, () => {
      if (clock.now() - this.#heardMs >= (this.#leaseMs * 2) / 3) return this.#socket?.terminate();
      this.#frame({ frame: "beat", ack: this.#received, claims: this.#claims() });
      return this.#beatLater();
    });
  }

  /** Goes on through reconnects, until a lease has passed without a frame; the next welcome begins it anew. */
  #watchLease(): void {
    this.#cancelLease();
    const { clock, leaseOver } = this.#options;
    this.#cancelLease = clock.at(this.#heardMs + this.#leaseMs, () => {
      if (clock.now() - this.#heardMs >= this.#leaseMs) leaseOver();
      else this.#watchLease();
    });
  }

  #acknowledged(upTo: number): void {
    for (const [n, { characters }] of this.#outbox) {
      if (n > upTo) break;
      this.#outbox.delete(n);
      this.#waiting -= characters;
    }
    this.#wake();
  }

  #wake(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake();
  }

  #post(n: number, message: RunnerMessage): void {
    this.#frame({ frame: "message", n, ack: this.#received, message });
  }

  #frame(frame: RunnerFrame): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(frame));
  }

  #lost(refused: boolean): void {
    this.#welcomed = false;
    this.#cancelBeat();
    if (this.#closed) return;
    const { clock, random } = this.#options;
    const wait = refused ? REFUSED_WAIT_MS : Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#failures);
    this.#failures += 1;
    this.#cancelRetry = clock.at(clock.now() + wait * (0.5 + random() / 2), () => this.open());
  }
}

function parseFrame(text: string): ServiceFrame | null {
  try {
    const parsed = serviceFrameSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}
