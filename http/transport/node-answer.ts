import type { ServerResponse } from "node:http";
import { commonHeaders } from "../wire/headers.js";
import { type LiveResponses, openLive } from "./node-live.js";
import { sendPieces } from "./stream-body.js";
import {
  DROP_IDLE_MS,
  type LiveTransportAnswer,
  type StreamedAnswer,
  type TransportAnswer,
  type WholeAnswer,
} from "./transport.js";

/** Maximum size of a body that is certain to fit into the system's buffers, in bytes. */
const BIG_BODY = 64 * 1024;

interface Writing {
  readonly isHead: boolean;
  /** Whether to close the connection after this response. */
  readonly closes: boolean;
  /** The open live responses of the transport, to which a live response is added. */
  readonly lives?: LiveResponses;
  /** Whether the client is still sending a body that the service no longer reads. */
  readonly isFlooding?: boolean;
  /**
   * Reads and drops the bytes that the client still sends after the response. The connection is closed when the promise
   * resolves. Null if the connection can be closed without waiting for such bytes.
   */
  readonly rest?: (() => Promise<unknown>) | null;
}

/** Sends a response. For a streamed response, resolves when the client has received all of it or has disconnected. */
export async function writeAnswer(response: ServerResponse, answer: TransportAnswer, writing: Writing): Promise<void> {
  if ("stream" in answer) await writeStreamed(response, answer, writing);
  else if ("open" in answer) writeLive(response, answer, writing);
  else if (!response.destroyed) writeWhole(response, answer, writing);
}

function toHeaders({ headers, requestId }: Omit<WholeAnswer, "body">): Readonly<Record<string, string>> {
  return requestId === undefined ? headers : commonHeaders(requestId, headers);
}

function writeWhole(response: ServerResponse, answer: WholeAnswer, writing: Writing): void {
  const { isHead, closes, isFlooding, rest = null } = writing;
  const hasLength = answer.status !== 204 && answer.status !== 304;
  const length = Buffer.byteLength(answer.body);
  response.writeHead(answer.status, {
    ...toHeaders(answer),
    ...(hasLength ? { "content-length": String(length) } : {}),
    ...(closes ? { connection: "close" } : {}),
  });
  const isEmpty = isHead || !hasLength;
  if (isFlooding === true && !isEmpty) {
    // End the response later: closing the connection now would reset it, and the client would lose the part of the
    // response that it has not read.
    response.write(answer.body);
    const end = setTimeout(() => response.end(), DROP_IDLE_MS);
    response.once("close", () => clearTimeout(end));
    return;
  }
  if (rest !== null) {
    // End the response later: if the client sends its body without waiting, closing the connection now would reset it.
    if (isEmpty) response.flushHeaders();
    else response.write(answer.body);
    void rest().then(() => response.end());
    return;
  }
  // End a long response only when its bytes are sent. Node treats an ended response as idle even while its bytes wait
  // for a slow reader, and a drain would cut it off.
  if (!isEmpty && length > BIG_BODY) response.write(answer.body, () => response.end());
  else response.end(isEmpty ? undefined : answer.body);
}

function writeLive(response: ServerResponse, answer: LiveTransportAnswer, { isHead, closes, lives }: Writing): void {
  if (response.destroyed) return;
  response.writeHead(answer.status, { ...toHeaders(answer), ...(closes ? { connection: "close" } : {}) });
  if (isHead || lives === undefined) response.end();
  else openLive(response, answer, lives);
}

async function writeStreamed(
  response: ServerResponse,
  { stream, ...head }: StreamedAnswer,
  { isHead, closes, rest = null }: Writing,
): Promise<void> {
  if (response.destroyed) return stream.close({ isWhole: false });
  response.writeHead(head.status, {
    ...toHeaders(head),
    "content-length": String(stream.length),
    ...(closes ? { connection: "close" } : {}),
  });
  if (isHead) {
    response.end();
    return stream.close({ isWhole: true });
  }
  await sendPieces(stream, {
    send: (piece) =>
      new Promise((resolve) => {
        // Resolve also when the connection closes, because the write's callback is then never called.
        response.once("close", resolve);
        response.write(piece, () => {
          response.off("close", resolve);
          resolve();
        });
      }),
    isGone: () => response.destroyed,
    cut: () => response.destroy(),
  });
  if (rest !== null) await rest();
  if (!response.destroyed) response.end();
}
