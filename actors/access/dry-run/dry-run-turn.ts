import type { Address } from "../../../runtime/cells/address.js";
import { type DirectoryEntry, directoryKey } from "../../../runtime/directories/directory.js";
import { Overlays } from "../../../runtime/turns/overlays.js";
import type { Entry, Key, Range, Reading } from "../../../storage/store.js";
import type { ResourceTurn } from "../../resources/resource-turn.js";

/** A turn in memory. Only reads through the same turn see its writes. The turn stores and publishes nothing. */
export class DryRunTurn implements ResourceTurn {
  readonly self: Address;
  readonly now: number;
  readonly newId: (prefix: string) => string;
  readonly #rows: Overlays;

  constructor(
    reading: Reading,
    given: { readonly self: Address; readonly now: number; readonly newId: (prefix: string) => string },
  ) {
    this.#rows = new Overlays(reading);
    this.self = given.self;
    this.now = given.now;
    this.newId = given.newId;
  }

  get<Value = unknown>(key: Key): Value | undefined {
    return this.#rows.get<Value>(key);
  }

  range<Value = unknown>(range: Range): Entry<Value>[] {
    return this.#rows.range<Value>(range);
  }

  put(key: Key, value: unknown): void {
    this.#rows.put(key, value);
  }

  remove(key: Key): void {
    this.#rows.remove(key);
  }

  direct(entry: DirectoryEntry): void {
    this.put(directoryKey(entry), entry.row);
  }

  undirect(entry: DirectoryEntry): void {
    this.remove(directoryKey(entry));
  }

  publishChange(): void {}
}
