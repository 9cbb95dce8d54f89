import { asBinary, open, type RootDatabase } from "lmdb";
import type { Key } from "../../storage/store.js";

/** The stored bytes of a closed store, as LMDB stores them. */
export class RawStore {
  readonly #root: RootDatabase<Buffer, (string | number)[]>;

  constructor(folder: string) {
    this.#root = open({ path: folder, noSubdir: false, encoding: "binary", overlappingSync: false });
  }

  get(key: Key): Buffer {
    const bytes = this.#root.get([...key]);
    if (bytes === undefined) throw new Error(`there is no ${JSON.stringify(key)}`);
    return bytes;
  }

  async put(key: Key, bytes: Buffer): Promise<void> {
    await this.#root.put([...key], asBinary(bytes) as unknown as Buffer);
  }

  /** Changes the last byte of a value. */
  async flip(key: Key): Promise<void> {
    const bytes = this.get(key);
    await this.put(key, flipped(bytes, bytes.length - 1));
  }

  /** Removes a value, to simulate a database page that lost an entry. */
  async lose(key: Key): Promise<void> {
    this.get(key);
    await this.#root.remove([...key]);
  }

  /** Returns the bytes of all values, including the binding's own records. */
  all(): Buffer[] {
    return [...this.#root.getRange({ start: Buffer.from([0]) as never })].map(({ value }) => value);
  }

  async close(): Promise<void> {
    await this.#root.close();
  }
}

/** Returns a copy of the bytes with the byte at `at` changed. */
export function flipped(bytes: Buffer, at: number, by = 0x55): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ by;
  return copy;
}
