import { connect, type Socket } from "node:net";

/** An answer as received. */
export interface RawAnswer {
  readonly status: number;
  /** The headers by lower-case name. If a header is repeated, the last value counts. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A TCP connection to which a test writes bytes, without an HTTP client. */
export class RawConnection {
  readonly socket: Socket;
  #chunks: Buffer[] = [];
  #ended = false;
  #look: () => void = () => undefined;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.#look();
    });
    const end = () => {
      this.#ended = true;
      this.#look();
    };
    socket.on("end", end).on("close", end).on("error", end);
  }

  static async open(port: number): Promise<RawConnection> {
    const socket = connect({ port, host: "127.0.0.1" });
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve).once("error", reject);
    });
    return new RawConnection(socket);
  }

  /** Writes lines separated by CRLF, then `body`. */
  send(lines: readonly string[], body: string | Uint8Array = ""): void {
    this.socket.write(`${lines.join("\r\n")}\r\n\r\n`);
    if (body.length > 0) this.socket.write(body);
  }

  write(bytes: string | Uint8Array): void {
    this.socket.write(bytes);
  }

  /**
   * Resolves with the next complete answer, which can be an interim answer (100). Rejects if the connection ends first.
   */
  async answer(options: { readonly head?: boolean } = {}): Promise<RawAnswer> {
    const text = await this.#until((received) => {
      const end = received.indexOf("\r\n\r\n");
      return end < 0 ? null : end + 4;
    });
    const [first = "", ...lines] = text.trimEnd().split("\r\n");
    const headers: Record<string, string> = {};
    for (const line of lines) {
      const at = line.indexOf(":");
      headers[line.slice(0, at).toLowerCase()] = line.slice(at + 1).trim();
    }
    const length = options.head === true ? 0 : Number(headers["content-length"] ?? 0);
    while (!this.#ended && this.#chunks.reduce((sum, chunk) => sum + chunk.length, 0) < length) await this.#more();
    const body = await this.#until((received) => (received.length < length ? null : length));
    return { status: Number(first.split(" ")[1]), headers, body };
  }

  /** Waits until the other side closes the connection; returns the received text that no answer contained. */
  async end(): Promise<string> {
    while (!this.#ended) await this.#more();
    return Buffer.concat(this.#chunks).toString("latin1");
  }

  destroy(): void {
    this.socket.destroy();
  }

  async #until(lengthIn: (received: Buffer) => number | null): Promise<string> {
    for (;;) {
      const received = Buffer.concat(this.#chunks);
      const length = lengthIn(received);
      if (length !== null) {
        this.#chunks = [received.subarray(length)];
        return received.toString("utf8", 0, length);
      }
      if (this.#ended)
        throw new Error(`the connection ended after ${JSON.stringify(received.toString("utf8", 0, 200))}`);
      await this.#more();
    }
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#look = resolve;
    });
  }
}
