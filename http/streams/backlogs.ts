/**
 * Maximum number of unsent bytes over all streams of one holder. A stream may buffer one state of any size in addition to
 * its own limit, so the limit of each stream alone would not protect the service's memory.
 */
export const MAX_HOLDER_BYTES = 64 * 1024 * 1024;

/** The part of a connection that {@link Backlogs} reads. */
interface Buffering {
  readonly bufferedBytes: number;
}

/** Knows the open streams of each holder, and how many bytes their readers have not received yet. */
export class Backlogs {
  readonly #open = new Map<string, Set<Buffering>>();

  /** Adds an open stream of a holder. Returns the function that removes the stream. */
  add(holder: string, stream: Buffering): () => void {
    const streams = this.#open.get(holder) ?? new Set();
    this.#open.set(holder, streams.add(stream));
    return () => {
      streams.delete(stream);
      if (streams.size === 0 && this.#open.get(holder) === streams) this.#open.delete(holder);
    };
  }

  /** Whether the unsent bytes of the holder's streams together exceed {@link MAX_HOLDER_BYTES}. */
  isExceeded(holder: string): boolean {
    let bytes = 0;
    for (const { bufferedBytes } of this.#open.get(holder) ?? []) {
      bytes += bufferedBytes;
      if (bytes > MAX_HOLDER_BYTES) return true;
    }
    return false;
  }
}
