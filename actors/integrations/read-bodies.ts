import { type ReceivedBody, readReceivedBody } from "./received-body.js";

/** A delivery body, identified by `digest`: the body's digest, or the delivery's id if the body has no digest. */
export interface StoredBody {
  readonly workspaceId: string;
  readonly digest: string;
  readonly bytes: Uint8Array;
  readonly contentType: string | undefined;
}

/** Minimum size to cache, in bytes. Smaller bodies are parsed within a millisecond. */
const MIN_BYTES = 32 * 1024;
/**
 * Maximum total size of cached bodies, in bytes. This is enough for one body of maximum size. The parsed form of the
 * bodies takes about eight times as much memory.
 */
const MAX_BYTES = 6 * 1024 * 1024;

/**
 * Caches large parsed bodies while their deliveries are in progress. Parsing 5 MiB takes an eighth of a second, and
 * each lookup of a delivery needs the parsed body again. A cached body equals a newly parsed body.
 */
export class ReadBodies {
  readonly #read: typeof readReceivedBody;
  /** Entries in order of last use. */
  readonly #cache = new Map<string, { readonly body: ReceivedBody; readonly bytes: number }>();
  #bytes = 0;

  constructor(read = readReceivedBody) {
    this.#read = read;
  }

  /** Returns the body as expressions see it. */
  read(stored: StoredBody): ReceivedBody {
    const { bytes, contentType } = stored;
    const key = toKey(stored);
    const cached = this.#cache.get(key);
    const body = cached?.body ?? this.#read(bytes, contentType);
    this.forget(stored);
    if (bytes.length < MIN_BYTES || bytes.length > MAX_BYTES) return body;
    this.#cache.set(key, { body, bytes: bytes.length });
    this.#bytes += bytes.length;
    this.#evictOldest();
    return body;
  }

  /** Evicts a body. Call this when the delivery has ended. */
  forget(stored: Omit<StoredBody, "bytes">): void {
    const key = toKey(stored);
    this.#bytes -= this.#cache.get(key)?.bytes ?? 0;
    this.#cache.delete(key);
  }

  #evictOldest(): void {
    for (const [key, { bytes }] of this.#cache) {
      if (this.#bytes <= MAX_BYTES) return;
      this.#cache.delete(key);
      this.#bytes -= bytes;
    }
  }
}

function toKey({ workspaceId, digest, contentType }: Omit<StoredBody, "bytes">): string {
  return JSON.stringify([workspaceId, digest, contentType ?? null]);
}
