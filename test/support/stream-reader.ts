import type WebSocket from "ws";
import type { Client } from "./service.js";

/** A message of the stream. */
export interface StreamMessage {
  readonly topic: string;
  readonly seq: number;
  readonly kind: "snapshot" | "change" | "reset" | "error";
  readonly data: Readonly<Record<string, unknown>>;
}

/** A reader of the stream, with its received messages. */
export class StreamReader {
  readonly socket: WebSocket;
  readonly messages: StreamMessage[] = [];
  #closed: { readonly code: number; readonly reason: string } | null = null;
  #look: () => void = () => undefined;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (data) => {
      this.messages.push(JSON.parse(data.toString()));
      this.#look();
    });
    socket.on("close", (code, reason) => {
      this.#closed = { code, reason: reason.toString() };
      this.#look();
    });
    socket.on("error", () => undefined);
  }

  /** Opens the stream; rejects if the service refuses it. */
  static async open(client: Client): Promise<StreamReader> {
    const socket = client.socket("/api/stream");
    const reader = new StreamReader(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once("open", resolve).once("error", reject);
    });
    return reader;
  }

  subscribe(topic: string, after?: number): void {
    this.socket.send(JSON.stringify(after === undefined ? { subscribe: topic } : { subscribe: topic, after }));
  }

  /** Resolves with the first matching message. Rejects if the socket closes first. */
  async until(fits: (message: StreamMessage) => boolean): Promise<StreamMessage> {
    for (let at = 0; ; ) {
      for (; at < this.messages.length; at++) {
        const message = this.messages[at];
        if (message !== undefined && fits(message)) return message;
      }
      if (this.#closed !== null) throw new Error(`the stream closed with ${this.#closed.code}`);
      await this.#more();
    }
  }

  async closed(): Promise<{ readonly code: number; readonly reason: string }> {
    while (this.#closed === null) await this.#more();
    return this.#closed;
  }

  end(): void {
    this.socket.terminate();
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#look = resolve;
    });
  }
}
