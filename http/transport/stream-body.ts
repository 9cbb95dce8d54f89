import { setImmediate } from "node:timers/promises";
import type { StreamedBody } from "./transport.js";

/** Maximum number of bytes per send. The client has `idleMs` to receive them. */
const CHUNK_BYTES = 64 * 1024;

/** A connection that sends a response body. */
export interface Outlet {
  /** Resolves when the client has received the piece or has disconnected. */
  send(piece: Uint8Array): Promise<void>;
  isGone(): boolean;
  /** Closes the connection at once. Unsent bytes are lost. */
  cut(): void;
}

/** Sends a body piece by piece, as {@link StreamedBody} specifies. Does not end the response after the last byte. */
export async function sendPieces(body: StreamedBody, outlet: Outlet): Promise<void> {
  let sent = 0;
  let error: unknown;
  const cut = () => {
    if (!outlet.isGone()) outlet.cut();
  };
  const late = setTimeout(cut, body.wholeMs);
  try {
    for (const bytes of outlet.isGone() ? [] : cutUp(body.pieces)) {
      sent += bytes.length;
      if (sent > body.length) break;
      if (bytes.length > 0) await inTime(outlet.send(bytes), body.idleMs, cut);
      if (!outlet.isGone()) await setImmediate();
      if (outlet.isGone()) break;
    }
    if (sent !== body.length && !outlet.isGone()) throw new Error(`a body of ${body.length} bytes had ${sent}`);
  } catch (thrown) {
    error = thrown;
    cut();
  }
  clearTimeout(late);
  body.close({ isWhole: error === undefined && sent === body.length, ...(error === undefined ? {} : { error }) });
}

/** Yields each piece in chunks of at most {@link CHUNK_BYTES}, and an empty chunk for an empty piece. */
function* cutUp(pieces: StreamedBody["pieces"]): Generator<Uint8Array> {
  for (const piece of pieces) {
    const bytes = typeof piece === "string" ? Buffer.from(piece) : piece;
    for (let from = 0; from === 0 || from < bytes.length; from += CHUNK_BYTES) {
      yield bytes.subarray(from, from + CHUNK_BYTES);
    }
  }
}

async function inTime(work: Promise<void>, limitMs: number, isLate: () => void): Promise<void> {
  const timer = setTimeout(isLate, limitMs);
  await work;
  clearTimeout(timer);
}
