import type { HttpResponse } from "uWebSockets.js";
import { STATUS_CODES } from "node:http";
import { headerLines, REQUEST_ID } from "../wire/headers.js";
import type { TransportAnswer, WholeAnswer } from "./transport.js";
import type { Client } from "./uws-request.js";

const statusLines = new Map(Object.entries(STATUS_CODES).map(([code, text]) => [Number(code), `${code} ${text}`]));

/** How to send an answer. */
export interface Writing {
  readonly isHead: boolean;
  /** Whether the connection ends with this answer. */
  readonly closes: boolean;
}

/** Sends an answer in one call; in the request's first tick without {@link write}'s cork, which is there already. */
export function writeCorked(response: HttpResponse, answer: WholeAnswer, { isHead, closes }: Writing): void {
  writeHead(response, answer, false);
  if (answer.status === 204 || answer.status === 304) {
    // The library closes a connection only after an answer with a length. 0 is true of a 204; to a 304 no body led.
    if (closes && answer.status === 204) response.endWithoutBody(0, true);
    else response.endWithoutBody();
  } else if (isHead && closes) response.endWithoutBody(Buffer.byteLength(answer.body), true);
  else if (isHead) {
    // Given a length, the library would wait for that many bytes before it reads the next request.
    response.writeHeader("content-length", String(Buffer.byteLength(answer.body)));
    response.endWithoutBody();
  } else response.end(answer.body, closes);
}

/** Sends an answer in one call. */
export function write(response: HttpResponse, answer: WholeAnswer, writing: Writing): void {
  response.cork(() => writeCorked(response, answer, writing));
}

/**
 * Sends an answer to a client that still sends its body. The library closes a connection at once where it closes it, which
 * resets it, and the client may never read the answer. So the connection is paused instead: nothing more is read from it,
 * and the library closes it when it has been idle for ten seconds.
 */
export function writePaused(response: HttpResponse, answer: WholeAnswer): void {
  response.pause();
  response.cork(() => {
    writeHead(response, answer, true);
    response.end(answer.body);
  });
}

/** Longer bodies, in characters, are sent piece by piece, so that a drain can wait for their end. */
export const BIG_BODY = 64 * 1024;

/** Sends an answer with a big body; resolves when the client has taken all of it or is gone. */
export function writeBig(response: HttpResponse, answer: WholeAnswer, client: Client, closes: boolean): Promise<void> {
  const bytes = typeof answer.body === "string" ? Buffer.from(answer.body) : answer.body;
  return new Promise((resolve) => {
    client.onGone(resolve);
    const sendFrom = (offset: number): boolean => {
      const [isTaken, isDone] = response.tryEnd(bytes.subarray(offset), bytes.length);
      if (isDone) resolve();
      return isTaken;
    };
    response.onWritable(sendFrom);
    response.cork(() => {
      writeHead(response, answer, closes);
      sendFrom(0);
    });
  });
}

/** Begins an answer; call it in a cork. Each call to the library is dear, so the headers are one. */
export function writeHead(
  response: HttpResponse,
  { status, headers, requestId }: Pick<TransportAnswer, "status" | "headers" | "requestId">,
  closes: boolean,
): void {
  if (status !== 200) response.writeStatus(statusLines.get(status) ?? String(status));
  if (requestId !== undefined) response.writeHeader(REQUEST_ID, requestId + headerLines(headers));
  else for (const name in headers) response.writeHeader(name, headers[name] ?? "");
  if (closes) response.writeHeader("connection", "close");
}
