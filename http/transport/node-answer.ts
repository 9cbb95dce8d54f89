import type { ServerResponse } from "node:http";
import { sendPieces } from "./stream-body.js";
import type { StreamedAnswer, TransportAnswer, WholeAnswer } from "./transport.js";

/** Bodies longer than this, in bytes, may not fit into the system's buffers at once. */
const BIG_BODY = 64 * 1024;

/** How an answer goes out. */
interface Writing {
  readonly isHead: boolean;
  /** Whether the connection ends with this answer. */
  readonly closes: boolean;
}

/** Sends an answer; resolves once all of a streamed one was taken, or the client is gone. */
export async function writeAnswer(response: ServerResponse, answer: TransportAnswer, writing: Writing): Promise<void> {
  if ("stream" in answer) await writeStreamed(response, answer, writing);
  else if (!response.destroyed) writeWhole(response, answer, writing);
}

function writeWhole(response: ServerResponse, answer: WholeAnswer, { isHead, closes }: Writing): void {
  const hasLength = answer.status !== 204 && answer.status !== 304;
  const length = Buffer.byteLength(answer.body);
  response.writeHead(answer.status, {
    ...answer.headers,
    ...(hasLength ? { "content-length": String(length) } : {}),
    ...(closes ? { connection: "close" } : {}),
  });
  const isEmpty = isHead || !hasLength;
  // A finished response counts as idle although its bytes may wait for a slow reader; a drain would cut it.
  if (!isEmpty && length > BIG_BODY) response.write(answer.body, () => response.end());
  else response.end(isEmpty ? undefined : answer.body);
}

async function writeStreamed(
  response: ServerResponse,
  { status, headers, stream }: StreamedAnswer,
  { isHead, closes }: Writing,
): Promise<void> {
  if (response.destroyed) return stream.close({ isWhole: false });
  response.writeHead(status, {
    ...headers,
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
        // Its callback is not called where the connection ends before.
        response.once("close", resolve);
        response.write(piece, () => {
          response.off("close", resolve);
          resolve();
        });
      }),
    isGone: () => response.destroyed,
    cut: () => response.destroy(),
  });
  if (!response.destroyed) response.end();
}
