import { BodyCrowded, BodyTooLarge, type HoldBytes } from "./transport.js";

/** Initial buffer size for a body of unknown length, in bytes. The buffer doubles as needed. */
const FIRST_BYTES = 4 * 1024;

/**
 * Collects the bytes of a body in one buffer. The buffer has the body's declared length, or grows if the length is
 * unknown. Calls `holdBytes` before it allocates memory.
 */
export class BodyBytes {
  readonly #limitBytes: number;
  readonly #holdBytes: HoldBytes;
  #bytes: Buffer;
  #length = 0;

  /** `declared` is the length in bytes, or null if unknown. Throws {@link BodyTooLarge} or {@link BodyCrowded}. */
  constructor(declared: number | null, limitBytes: number, holdBytes: HoldBytes) {
    if (declared !== null && declared > limitBytes) throw new BodyTooLarge();
    this.#limitBytes = limitBytes;
    this.#holdBytes = holdBytes;
    this.#bytes = this.#allocate(declared ?? Math.min(FIRST_BYTES, limitBytes));
  }

  /** Copies the chunk, so the caller may reuse its memory. Throws {@link BodyTooLarge} or {@link BodyCrowded}. */
  add(chunk: Uint8Array): void {
    const length = this.#length + chunk.length;
    if (length > this.#limitBytes) throw new BodyTooLarge();
    if (length > this.#bytes.length) this.#grow(length);
    this.#bytes.set(chunk, this.#length);
    this.#length = length;
  }

  /** Returns all bytes so far. Add no bytes after that. */
  whole(): Uint8Array {
    return this.#length === this.#bytes.length ? this.#bytes : this.#bytes.subarray(0, this.#length);
  }

  #grow(length: number): void {
    const doubled = Math.min(Math.max(length, this.#bytes.length * 2), this.#limitBytes);
    const grown = this.#allocate(doubled);
    grown.set(this.whole());
    this.#bytes = grown;
  }

  #allocate(bytes: number): Buffer {
    if (!this.#holdBytes(bytes)) throw new BodyCrowded();
    return Buffer.allocUnsafe(bytes);
  }
}
