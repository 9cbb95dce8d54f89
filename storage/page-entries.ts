/** Layout of LMDB's pages and their entries (`MDB_page`, `MDB_node`), in bytes, as the lmdb package writes them. */
export const PAGE_HEADER = 24;
const PAGE = { lower: 20, upper: 22 };
const NODE_HEADER = 8;
const NODE = { low: 0, high: 2, flags: 4, keySize: 6 };
export const INTEGER_BYTES = 8;
const BIG_DATA = 0x01;
/** Maximum length of a key, in bytes. */
const MAX_KEY = 1978;

/** An entry of a page. */
interface PageEntry {
  /** Start and end offsets of the entry's key. */
  begin: number;
  end: number;
  /** Size of the data, or the child page number in a branch page. */
  data: number;
  /** Whether the data has pages of its own. The number of the first of these pages follows the key. */
  isBig: boolean;
}

/**
 * The bytes of a page and its entries, which {@link read} finds. The object is reused for the next page: a file has so
 * many pages that new memory per page, or a view per key, would cost more than all other work.
 */
export class PageEntries {
  readonly bytes: Buffer;
  count = 0;
  readonly #entries: PageEntry[] = [];

  constructor(pageSize: number) {
    this.bytes = Buffer.alloc(pageSize);
  }

  /**
   * Finds the entries of the page in `bytes`. If an entry is not inside the page, stores no entries and returns false.
   */
  read(isLeaf: boolean): boolean {
    const { bytes } = this;
    this.count = 0;
    const end = bytes.length - PAGE_HEADER;
    const lower = bytes.readUInt16LE(PAGE.lower);
    const upper = bytes.readUInt16LE(PAGE.upper);
    if (lower % 2 !== 0 || lower > upper || upper > end) return false;
    for (let pointer = 0; pointer < lower; pointer += 2) {
      const offset = bytes.readUInt16LE(PAGE_HEADER + pointer);
      if (offset < upper || !this.#readEntry(pointer / 2, offset, isLeaf)) return false;
    }
    this.count = lower / 2;
    return true;
  }

  at(index: number): PageEntry {
    const entry = this.#entries[index];
    if (entry === undefined || index >= this.count) throw new RangeError(`there is no entry ${index}`);
    return entry;
  }

  keyAt(index: number): Buffer {
    const { begin, end } = this.at(index);
    return this.bytes.subarray(begin, end);
  }

  /** Whether the keys are strictly ascending from this entry on. */
  risesFrom(first: number): boolean {
    for (let index = first + 1; index < this.count; index++) {
      if (!isBefore(this.bytes, this.at(index - 1), this.at(index))) return false;
    }
    return true;
  }

  #readEntry(index: number, offset: number, isLeaf: boolean): boolean {
    const { bytes } = this;
    const availableBytes = bytes.length - PAGE_HEADER - NODE_HEADER - offset;
    if (availableBytes < 0) return false;
    const at = PAGE_HEADER + offset;
    const flags = bytes.readUInt16LE(at + NODE.flags);
    const keySize = bytes.readUInt16LE(at + NODE.keySize);
    const low = bytes.readUInt16LE(at + NODE.low) + bytes.readUInt16LE(at + NODE.high) * 2 ** 16;
    const isBig = isLeaf && (flags & BIG_DATA) !== 0;
    const inPage = !isLeaf ? 0 : isBig ? INTEGER_BYTES : low;
    if (keySize > MAX_KEY || keySize + inPage > availableBytes) return false;
    if (isLeaf && (flags & ~BIG_DATA) !== 0) return false;
    const begin = at + NODE_HEADER;
    const entry = this.#entries[index] ?? { begin: 0, end: 0, data: 0, isBig: false };
    entry.begin = begin;
    entry.end = begin + keySize;
    entry.data = isLeaf ? low : low + flags * 2 ** 32;
    entry.isBig = isBig;
    this.#entries[index] = entry;
    return true;
  }
}

/**
 * Whether the key of `one` is less than the key of `other`. Keys are short, so this loop is faster than a call of
 * `compare`.
 */
function isBefore(bytes: Buffer, one: PageEntry, other: PageEntry): boolean {
  const length = Math.min(one.end - one.begin, other.end - other.begin);
  for (let index = 0; index < length; index++) {
    const difference = (bytes[one.begin + index] ?? 0) - (bytes[other.begin + index] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return one.end - one.begin < other.end - other.begin;
}
