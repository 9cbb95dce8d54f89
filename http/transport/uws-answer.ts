import type { HttpResponse } from "uWebSockets.js";
import { STATUS_CODES } from "node:http";
import { headerLines, REQUEST_ID } from "../wire/headers.js";
import type { TransportAnswer, WholeAnswer } from "./transport.js";
import type { Client } from "./uws-request.js";

const statusLines = new Map(Object.entries(STATUS_CODES).map(([code, text]) => [Number(code), `${code} ${text}`]));

/** Options for sending a response. */
export interface Writing {
  readonly isHead: boolean;
  /** Whether to close the connection after this response. */
  readonly closes: boolean;
}

/**
 * Sends a response in one call. Call it inside a cork of the library: {@link write} creates a cork, and the library
 * itself corks the first tick of a request.
 */
export function writeCorked(response: HttpResponse, answer: WholeAnswer, { isHead, closes }: Writing): void {
  writeHead(response, answer, false);
  if (answer.status === 204 || answer.status === 304) {
    // The library closes a connection only after a response with a length. Length 0 is correct for a 204. A request
    // that gets a 304 has no body, so its connection need not close.
    if (closes && answer.status === 204) response.endWithoutBody(0, true);
    else response.endWithoutBody();
  } else if (isHead && closes) response.endWithoutBody(Buffer.byteLength(answer.body), true);
  else if (isHead) {
    // Send the length as a header. If the library got the length of a body that does not follow, it would wait for that
    // many bytes before it reads the next request.
    response.writeHeader("content-length", String(Buffer.byteLength(answer.body)));
    response.endWithoutBody();
  } else response.end(answer.body, closes);
}

/** Sends a response in one call, inside a new cork. Use it outside the first tick of a request. */
export function write(response: HttpResponse, answer: WholeAnswer, writing: Writing): void {
  response.cork(() => writeCorked(response, answer, writing));
}

/**
 * Sends a response to a client that is still sending its body. If the library closed the connection now, it would reset
 * the connection, and the client might never read the response. So this function pauses the connection, which stops
 * reading. The library closes the connection after ten idle seconds.
 */
export function writePaused(response: HttpResponse, answer: WholeAnswer): void {
  response.pause();
  response.cork(() => {
    writeHead(response, answer, true);
    response.end(answer.body);
  });
}

/**
 * Maximum length of a body that is sent in one call, in characters. Longer bodies are sent piece by piece, so that a
 * drain can wait for their end.
 */
export const BIG_BODY = 64 * 1024;

/** Sends a response with a big body. Resolves when the client has received all of it or has disconnected. */
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

/** Starts a response. Call it in a cork. Each call to the library is expensive, so one call writes all headers. */
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
