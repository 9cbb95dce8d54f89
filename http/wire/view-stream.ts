import type { Runtime } from "../../runtime/runtime.js";
import type { AnswerStream, RouteRequest } from "./route.js";

type Piece = string | Uint8Array;
/** The state of the store at one time. */
type View = ReturnType<Runtime["view"]>;

interface Streamed {
  /** The content type of a text; JSON by default. */
  readonly type?: string;
  /** Yields the pieces of the response, read from the view. Called twice, and must yield the same pieces each time. */
  read(view: View): Iterable<Piece>;
  /** Called once, when the response is over. */
  end(): void;
}

/**
 * Returns a response that is read from one view of the store. The content is produced twice: first to count its bytes,
 * then to send it. So the response has a length, which lets a client detect truncation, but is never in memory as a
 * whole. Throws the signal's abort reason if the request is aborted.
 */
export async function streamView(
  runtime: Pick<Runtime, "view">,
  request: Pick<RouteRequest, "signal" | "pause">,
  { type, read, end }: Streamed,
): Promise<AnswerStream> {
  let view: View | null = null;
  const close = () => {
    view?.close();
    end();
  };
  try {
    view = runtime.view();
    const length = await countBytes(read(view), request);
    return { ...(type === undefined ? {} : { type }), length, pieces: read(view), close };
  } catch (error) {
    close();
    throw error;
  }
}

async function countBytes(
  pieces: Iterable<Piece>,
  { signal, pause }: Pick<RouteRequest, "signal" | "pause">,
): Promise<number> {
  let bytes = 0;
  for (const piece of pieces) {
    bytes += Buffer.byteLength(piece);
    await pause();
    signal.throwIfAborted();
  }
  return bytes;
}
