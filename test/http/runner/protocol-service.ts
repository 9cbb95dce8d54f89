import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { Test } from "tap";
import { type WebSocket, WebSocketServer } from "ws";
import {
  type RunnerFrame,
  type RunnerMessage,
  runnerFrameSchema,
  type ServiceFrame,
  type ServiceMessage,
  serviceFrameSchema,
} from "../../../actors/runners/protocol.js";

/** A received frame, with the number of its connection. */
export interface Arrived {
  readonly connection: number;
  readonly frame: RunnerFrame;
}

export interface Requested {
  readonly line: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/**
 * The service's side of the runner protocol on a real socket, driven by the test. It accepts and sends only frames that
 * match the schema. An invalid frame rejects all waits for a frame.
 */
export class ProtocolService {
  readonly arrived: Arrived[] = [];
  /** Close codes that the runner sent, in order. */
  readonly closed: number[] = [];
  /** The accepted bearer token. */
  token = "pool-token";
  refusals = 0;
  readonly requested: Requested[] = [];
  /** The service's answers over HTTP: a text, or a value as JSON. Undefined breaks the connection. */
  answers: (request: Requested) => { readonly status: number; readonly body: unknown } | undefined = () => undefined;
  /** Whether the service acknowledges each message immediately. */
  acknowledges = false;
  readonly #server: Server;
  readonly #sockets = new WebSocketServer({ noServer: true });
  #socket: WebSocket | null = null;
  #connections = 0;
  #n = 0;
  #broken: Error | null = null;
  readonly #watchers = new Set<() => void>();

  private constructor(server: Server) {
    this.#server = server;
    server.on("request", (request, response) => {
      void text(request).then((body) => {
        const asked = { line: `${request.method} ${request.url}`, headers: request.headers, body };
        this.requested.push(asked);
        const answer = this.answers(asked);
        if (answer === undefined) return response.destroy();
        response.statusCode = answer.status;
        return response.end(typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body));
      });
    });
    server.on("upgrade", (request, socket, head) => {
      if (request.url !== "/api/runner" || request.headers.authorization !== `Bearer ${this.token}`) {
        this.refusals += 1;
        socket.end("HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        return this.#look();
      }
      return this.#sockets.handleUpgrade(request, socket, head, (opened) => this.#opened(opened));
    });
  }

  /** Starts the service on a free port. The service stops with the test. */
  static async start(t: Test): Promise<ProtocolService> {
    const service = new ProtocolService(createServer());
    service.#server.listen(0, "127.0.0.1");
    await once(service.#server, "listening");
    t.teardown(() => {
      service.cut();
      service.#server.close();
      service.#server.closeAllConnections();
    });
    return service;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get connections(): number {
    return this.#connections;
  }

  send(frame: ServiceFrame): void {
    this.sendText(JSON.stringify(serviceFrameSchema.parse(frame)));
  }

  sendText(text: string): void {
    this.#socket?.send(text);
  }

  welcome(more: Partial<Extract<ServiceFrame, { frame: "welcome" }>> = {}): void {
    this.send({ frame: "welcome", runnerId: "runner_1", received: 0, leaseSeconds: 60, claims: [], ...more });
  }

  /** Sends the message with the next number; returns this number. */
  tell(message: ServiceMessage, ack = 0): number {
    this.#n += 1;
    this.send({ frame: "message", n: this.#n, ack, message });
    return this.#n;
  }

  /** Drops the connection, like a broken network. */
  cut(): void {
    this.#socket?.terminate();
  }

  /**
   * Resolves with the first frame of this type for which `fits` returns true. Looks at the connection with the number
   * `connection` and at all later connections.
   */
  frame<F extends RunnerFrame["frame"]>(
    type: F,
    fits: (frame: Extract<RunnerFrame, { frame: F }>) => boolean = () => true,
    connection = 1,
  ): Promise<Extract<RunnerFrame, { frame: F }>> {
    const isWanted = (frame: RunnerFrame): frame is Extract<RunnerFrame, { frame: F }> =>
      frame.frame === type && fits(frame as Extract<RunnerFrame, { frame: F }>);
    return this.until(() => {
      for (const { connection: on, frame } of this.arrived) if (on >= connection && isWanted(frame)) return frame;
      return undefined;
    });
  }

  /** Returns the numbered messages received on one connection. */
  messages(connection: number): { readonly n: number; readonly message: RunnerMessage }[] {
    return this.arrived.flatMap(({ connection: on, frame }) =>
      on === connection && frame.frame === "message" ? [{ n: frame.n, message: frame.message }] : [],
    );
  }

  /** Resolves when `look` returns a value. Calls `look` again whenever a frame arrives or a connection ends. */
  until<T>(look: () => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const watch = () => {
        const found = look();
        if (this.#broken !== null) reject(this.#broken);
        else if (found !== undefined) resolve(found);
        else return;
        this.#watchers.delete(watch);
      };
      this.#watchers.add(watch);
      watch();
    });
  }

  #opened(socket: WebSocket): void {
    this.#connections += 1;
    const connection = this.#connections;
    this.#socket = socket;
    socket.on("message", (data) => {
      const parsed = runnerFrameSchema.safeParse(JSON.parse(data.toString()));
      if (parsed.success) this.#take(connection, parsed.data);
      else this.#broken = parsed.error;
      this.#look();
    });
    socket.on("close", (code) => {
      this.closed.push(code);
      this.#look();
    });
    this.#look();
  }

  #take(connection: number, frame: RunnerFrame): void {
    this.arrived.push({ connection, frame });
    if (this.acknowledges && frame.frame === "message") this.send({ frame: "ack", ack: frame.n });
  }

  #look(): void {
    for (const watch of [...this.#watchers]) watch();
  }
}
