import { setImmediate } from "node:timers/promises";
import type { StreamedBody } from "./transport.js";

/** Most bytes sent at once; a client has `idleMs` to take them. */
const CHUNK_BYTES = 64 * 1024;

/** A connection to send an answer's body on. */
export interface Outlet {
  /** Resolves when the client has taken the piece or is gone. */
  send(piece: Uint8Array): Promise<void>;
  isGone(): boolean;
  /** Closes the connection at once; unsent bytes are lost. */
  cut(): void;
}

/**
 * Sends a body piece by piece, as specified by {@link StreamedBody}; the outlet ends the answer after the last byte.
 */
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

/** The bytes of each piece, in chunks of at most {@link CHUNK_BYTES}; an empty chunk for an empty piece. */
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
