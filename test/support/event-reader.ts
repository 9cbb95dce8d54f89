import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import type { Client, TestService } from "./service.js";
import type { StreamMessage } from "./stream-reader.js";

/** An event of a stream of server-sent events. */
export interface StreamEvent {
  /** The last id that the stream sent. */
  readonly id: string;
  readonly event: string;
  readonly message: StreamMessage;
}

/** A reader of server-sent events. It stores the events that it received. */
export class EventReader {
  readonly incoming: IncomingMessage;
  readonly events: StreamEvent[] = [];
  /** The comments and other blocks that are no events. */
  readonly others: string[] = [];
  #rest = "";
  #lastId = "";
  #look: () => void = () => undefined;

  private constructor(incoming: IncomingMessage) {
    this.incoming = incoming;
    incoming.setEncoding("utf8");
    incoming.on("data", (text: string) => this.#take(text));
    incoming.on("error", () => undefined).on("close", () => this.#look());
  }

  /** Opens the stream of topics; rejects with the problem if the service refuses it. */
  static async open(
    { baseUrl }: Pick<TestService, "baseUrl">,
    { credentials }: Pick<Client, "credentials">,
    topics: readonly string[],
    lastEventId?: string,
  ): Promise<EventReader> {
    const headers = { ...credentials, ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }) };
    const sent = request(`${baseUrl}/api/stream?topics=${topics.join(",")}`, { headers, agent: false });
    sent.on("error", () => undefined).end();
    const [incoming] = (await once(sent, "response")) as [IncomingMessage];
    const reader = new EventReader(incoming);
    if (incoming.statusCode === 200) return reader;
    await reader.ended();
    throw new Error(`the stream answered ${incoming.statusCode} ${reader.#rest}`);
  }

  /** Resolves with the first matching event. Rejects if the stream ends first. */
  async until(fits: (message: StreamMessage) => boolean): Promise<StreamEvent> {
    for (let at = 0; ; ) {
      for (; at < this.events.length; at++) {
        const event = this.events[at];
        if (event !== undefined && fits(event.message)) return event;
      }
      if (this.incoming.closed) throw new Error("the stream ended");
      await this.#more();
    }
  }

  /** Waits for a block that is no event, such as a comment. */
  async other(pattern: RegExp): Promise<void> {
    while (!this.others.some((block) => pattern.test(block))) {
      if (this.incoming.closed) throw new Error("the stream ended");
      await this.#more();
    }
  }

  /** Waits until the stream ends; returns whether the response was complete. */
  async ended(): Promise<boolean> {
    while (!this.incoming.closed) await this.#more();
    return this.incoming.complete;
  }

  end(): void {
    this.incoming.destroy();
  }

  #take(text: string): void {
    const blocks = (this.#rest + text).split("\n\n");
    this.#rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const fields = new Map(block.split("\n").map((line) => [line.split(": ", 1)[0], line.replace(/^[a-z]+: /, "")]));
      const data = fields.get("data");
      this.#lastId = fields.get("id") ?? this.#lastId;
      if (data === undefined) this.others.push(block);
      else this.events.push({ id: this.#lastId, event: fields.get("event") ?? "", message: JSON.parse(data) });
    }
    this.#look();
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#look = resolve;
    });
  }
}
