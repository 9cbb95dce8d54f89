import type { HttpResponse } from "uWebSockets.js";
import { type Outlet, sendPieces } from "./stream-body.js";
import type { StreamedAnswer } from "./transport.js";
import { type Writing, writeHead } from "./uws-answer.js";
import type { Client } from "./uws-request.js";

/**
 * Interval at which to resume reading, in milliseconds. The library closes a connection whose client received nothing
 * for ten seconds, unless reading was resumed in that time.
 */
const RESUME_EVERY_MS = 4_000;

/**
 * Sends a response piece by piece. `tryEnd` accepts only the bytes that fit into the system's buffer, so a slow client
 * uses the memory of one piece. The library's other function, `write`, would buffer the whole body.
 */
export async function writeStreamed(
  response: HttpResponse,
  { stream, ...answer }: StreamedAnswer,
  { client, isHead, closes }: Writing & { readonly client: Client },
): Promise<void> {
  if (client.isGone) return stream.close({ isWhole: false });
  if (isHead || stream.length === 0) {
    response.cork(() => {
      writeHead(response, answer, closes);
      response.writeHeader("content-length", String(stream.length));
      response.endWithoutBody();
    });
    return stream.close({ isWhole: true });
  }
  const outgoing = new OutgoingPieces(response, client, stream.length);
  response.cork(() => writeHead(response, answer, closes));
  await sendPieces(stream, outgoing);
}

/** Sends the pieces of one response. */
class OutgoingPieces implements Outlet {
  readonly #response: HttpResponse;
  readonly #client: Client;
  readonly #length: number;
  #piece: Uint8Array = new Uint8Array();
  /** The offset of the piece in the body. */
  #from = 0;
  #isDone = false;
  #settle: () => void = () => undefined;

  constructor(response: HttpResponse, client: Client, length: number) {
    this.#response = response;
    this.#client = client;
    this.#length = length;
    client.onGone(() => this.#settle());
    response.onWritable((offset) => this.#sendFrom(offset));
  }

  isGone(): boolean {
    return this.#client.isGone;
  }

  cut(): void {
    if (!this.#isDone && !this.#client.isGone) this.#response.close();
  }

  send(piece: Uint8Array): Promise<void> {
    this.#from += this.#piece.length;
    this.#piece = piece;
    return new Promise((resolve) => {
      const resuming = setInterval(() => {
        this.#response.pause();
        this.#response.resume();
      }, RESUME_EVERY_MS);
      this.#settle = () => {
        clearInterval(resuming);
        resolve();
      };
      this.#response.cork(() => this.#sendFrom(this.#from));
    });
  }

  /** Sends the rest of the piece, from an offset in the body. Returns whether the library accepted all of it. */
  #sendFrom(offset: number): boolean {
    const rest = this.#piece.subarray(offset - this.#from);
    if (rest.length === 0) return true;
    const [isTaken, isDone] = this.#response.tryEnd(rest, this.#length);
    this.#isDone = isDone;
    if (isTaken || isDone) this.#settle();
    return isTaken;
  }
}
