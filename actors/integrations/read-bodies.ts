import { type ReceivedBody, readReceivedBody } from "./received-body.js";

/** A body of a delivery, by what it contains. */
export interface StoredBody {
  readonly workspaceId: string;
  readonly digest: string;
  readonly bytes: Uint8Array;
  readonly contentType: string | undefined;
}

/** Bodies below this are read in a millisecond. */
const MIN_BYTES = 32 * 1024;
/** Most bytes of bodies that are remembered together: one of the largest. As values they take some eight times that. */
const MAX_BYTES = 6 * 1024 * 1024;

/**
 * Long bodies as they were read, while their deliveries are worked. Reading one of 5 MiB takes an eighth of a second, and
 * each lookup of its entries wants it again. What is remembered is what reading it again would give; a restart forgets it.
 */
export class ReadBodies {
  readonly #read: typeof readReceivedBody;
  /** In the order of their last use. */
  readonly #kept = new Map<string, { readonly body: ReceivedBody; readonly bytes: number }>();
  #bytes = 0;

  constructor(read = readReceivedBody) {
    this.#read = read;
  }

  /** What expressions see of the body. */
  read(stored: StoredBody): ReceivedBody {
    const { bytes, contentType } = stored;
    const key = toKey(stored);
    const kept = this.#kept.get(key);
    const body = kept?.body ?? this.#read(bytes, contentType);
    this.forget(stored);
    if (bytes.length < MIN_BYTES || bytes.length > MAX_BYTES) return body;
    this.#kept.set(key, { body, bytes: bytes.length });
    this.#bytes += bytes.length;
    this.#makeRoom();
    return body;
  }

  /** Its delivery is over. */
  forget(stored: Omit<StoredBody, "bytes">): void {
    const key = toKey(stored);
    this.#bytes -= this.#kept.get(key)?.bytes ?? 0;
    this.#kept.delete(key);
  }

  #makeRoom(): void {
    for (const [key, { bytes }] of this.#kept) {
      if (this.#bytes <= MAX_BYTES) return;
      this.#kept.delete(key);
      this.#bytes -= bytes;
    }
  }
}

function toKey({ workspaceId, digest, contentType }: Omit<StoredBody, "bytes">): string {
  return JSON.stringify([workspaceId, digest, contentType ?? null]);
}
