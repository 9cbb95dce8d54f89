import { setImmediate } from "node:timers/promises";
import type { StreamedBody } from "./transport.js";

/** Bytes handed over at once: what a client has `idleMs` for. */
const MOST_AT_ONCE = 64 * 1024;

/** A connection that an answer's body goes out on. */
export interface Outlet {
  /** Resolves once the client has taken the piece, or is gone. */
  send(piece: Uint8Array): Promise<void>;
  isGone(): boolean;
  /** Breaks the connection off; nothing that is under way arrives. */
  cut(): void;
}

/** Sends a body piece by piece, as {@link StreamedBody} says; the outlet ends the answer itself after the last byte. */
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

/** The bytes of each piece, cut where they are many; no bytes for an empty piece. */
function* cutUp(pieces: StreamedBody["pieces"]): Generator<Uint8Array> {
  for (const piece of pieces) {
    const bytes = typeof piece === "string" ? Buffer.from(piece) : piece;
    for (let from = 0; from === 0 || from < bytes.length; from += MOST_AT_ONCE) {
      yield bytes.subarray(from, from + MOST_AT_ONCE);
    }
  }
}

async function inTime(work: Promise<void>, limitMs: number, isLate: () => void): Promise<void> {
  const timer = setTimeout(isLate, limitMs);
  await work;
  clearTimeout(timer);
}
