/**
 * Encodes and decodes the values of an LMDB database. Owns the description of the record shapes, and whether the store
 * may contain values without a checksum.
 *
 * 1. A value is decoded only if its checksum matches its key and bytes. Otherwise a {@link DamagedValue} replaces the
 *    value.
 * 2. A value without a checksum is damaged, unless the store's format says that an earlier release may have written
 *    it.
 * 3. Decoding never throws. An error inside the loop of a cursor would make the binding keep the cursor's pages.
 * 4. New shapes are committed with the first values that use them. No other process writes the store meanwhile.
 */
import { asBinary, type RootDatabase } from "lmdb";
import { pack, unpack } from "msgpackr";
import { FIRST_PLAIN, LAST_PLAIN } from "./key-check.js";
import { FORMAT_KEY, FROM_KEY } from "./migrations.js";
import { type Key, type KeyPart, StoreError } from "./store.js";
import { isInterrupted } from "./store-errors.js";
import { isIntact, isSealed, SEAL_BYTES, SEALED_FORMAT, seal } from "./stored-value.js";

/** LMDB's database with multi-part keys. The binding's own records have symbols as keys. */
export type LmdbRoot = RootDatabase<unknown, KeyPart[] | symbol>;

/** Replaces a value that cannot be read back. */
export class DamagedValue {
  constructor(readonly cause: unknown) {}
}

/** The binding's encoder, which its types omit. `mode` may reserve bytes at the start of the result. */
interface Encoder {
  encode(value: unknown, mode?: number): Buffer;
  decode(bytes: Uint8Array, bounds: { readonly start: number; readonly end: number }): unknown;
  /**
   * Sets the buffer for encoded values. When the buffer is full, the encoder allocates new buffers of the same length.
   */
  useBuffer(buffer: Buffer): void;
}

/** The key under which the shapes are stored: an array with the field names of each shape. */
const SHAPES = Symbol.for("structures");
/** The key that is part of the checksum of the shapes. */
const SHAPES_NAME: Key = ["structures"];
/** msgpackr's `RESERVE_START_SPACE`, combined with the number of bytes to reserve. */
const RESERVE_SEAL = 2048 | SEAL_BYTES;
/** Size of the buffers for encoded values. The binding's own buffers hold about five rows. */
const ENCODED_BYTES = 128 * 1024;
/** Maximum number of attempts to write shapes if the flush is interrupted. */
const MAX_ATTEMPTS = 100;
/** MessagePack's `true`, the value of index rows. */
const TRUE = 0xc3;

/**
 * Maximum number of shared shapes. Records of one shape share one description of their field names. The binding's
 * default of 32 shapes is less than the number of row types. Records whose field names are data (ids, numbers) do not
 * share shapes, because they would soon use up the limit.
 */
const MAX_SHAPES = 512;
const FIELD_NAME = /^[a-z][A-Za-z-]*$/;
/**
 * Two limits for records of request headers, whose names a sender chooses. Such a record shares a shape only under two
 * conditions:
 *
 * - The number of shapes is below the first limit.
 * - The total length of the record's names is at most the second limit.
 */
const MAX_SHAPES_OF_HEADERS = 256;
const MAX_HEADERS_LENGTH = 1_000;

/** Whether a record with these field names may share a shape. `count` is the current number of shapes. */
function mayShare(names: readonly string[], count: number): boolean {
  if (!names.every((name) => FIELD_NAME.test(name))) return false;
  if (!areHeaders(names)) return true;
  return count < MAX_SHAPES_OF_HEADERS && names.join("").length <= MAX_HEADERS_LENGTH;
}

/**
 * Whether the names look like request headers: one name has a hyphen, or all names are lower-case and one of them is
 * `host`.
 */
function areHeaders(names: readonly string[]): boolean {
  if (names.some((name) => name.includes("-"))) return true;
  return names.includes("host") && names.every((name) => name === name.toLowerCase());
}

/** Opens a database with `open`, which must pass the given options on to the binding. */
export function openValues(open: (options: object) => LmdbRoot): {
  readonly root: LmdbRoot;
  readonly values: LmdbValues;
} {
  const later: { values: LmdbValues | null } = { values: null };
  const root = open({
    encoding: "msgpack",
    sharedStructuresKey: SHAPES,
    maxSharedStructures: MAX_SHAPES,
    // Integers of any size.
    useBigIntExtension: true,
    shouldShareStructure: (names: readonly string[]) => mayShare(names, later.values?.shapeCount ?? 0),
    getStructures: () => later.values?.readShapes(),
    saveStructures: (shapes: unknown) => later.values?.takeShapes(shapes) ?? false,
  });
  later.values = new LmdbValues(root);
  return { root, values: later.values };
}

export class LmdbValues {
  readonly #root: LmdbRoot;
  readonly #encoder: Encoder;
  /** The key of the next value to decode. */
  #key: Key = [];
  #mayHoldUnsealed: boolean;
  /** Encoded shapes that are not yet in the database; null for none. */
  #newShapes: Buffer | null = null;
  #shapeCount = 0;

  /** Throws `damaged` if the store's format cannot be read. */
  constructor(root: LmdbRoot) {
    this.#root = root;
    const { encoder, readKey, writeKey } = internals(root);
    this.#encoder = encoder;
    encoder.useBuffer(Buffer.allocUnsafeSlow(ENCODED_BYTES));
    Object.assign(root, {
      decoder: { decode: (bytes: Uint8Array, options: unknown) => this.#decode(bytes, options) },
      writeKey: keyWriter(writeKey),
      // In a range, the binding reads the key of an entry before the entry's value.
      readKey: (bytes: Uint8Array, start: number, end: number) => {
        const key = readKey(bytes, start, end);
        this.#key = toKey(key);
        return key;
      },
    });
    this.#mayHoldUnsealed = this.#readMayHoldUnsealed();
  }

  /** The number of shared shapes that the encoder last read or reported. */
  get shapeCount(): number {
    return this.#shapeCount;
  }

  /** Returns the value under a key, which may be a {@link DamagedValue}. */
  get(key: Key, options: Parameters<LmdbRoot["get"]>[1]): unknown {
    this.#key = key;
    return this.#root.get([...key], options);
  }

  encode(key: Key, value: unknown): Buffer {
    if (value !== true) return seal(key, this.#encoder.encode(value, RESERVE_SEAL));
    const bytes = Buffer.allocUnsafe(SEAL_BYTES + 1);
    bytes[SEAL_BYTES] = TRUE;
    return seal(key, bytes);
  }

  /** Writes shapes that are new since the last commit. Call it in the transaction that writes their values. */
  putNewShapes(): void {
    if (this.#newShapes !== null) this.#putShapes(this.#newShapes);
  }

  /**
   * Handles the end of a commit: the new shapes are now stored, and a migration may have started or ended. Call it
   * after each commit.
   */
  committed(): void {
    this.#newShapes = null;
    if (!this.#mayHoldUnsealed) return;
    const bytes = this.#root.getBinary(SHAPES);
    if (bytes !== undefined && !isSealed(bytes)) {
      this.#uninterrupted(() => this.#putShapes(bytes));
    }
    this.#mayHoldUnsealed = this.#readMayHoldUnsealed();
  }

  /**
   * Returns the shapes for the encoder; undefined if there are none. Throws `damaged` if the stored shapes are damaged.
   */
  readShapes(): unknown {
    const shapes = this.#readShapes();
    this.#countShapes(shapes);
    return shapes;
  }

  #readShapes(): unknown {
    if (this.#newShapes !== null) return unpack(this.#newShapes);
    const bytes = this.#root.getBinary(SHAPES);
    if (bytes === undefined) return undefined;
    if (isIntact(SHAPES_NAME, bytes, bytes.length)) return unpack(bytes.subarray(SEAL_BYTES));
    if (this.#mayHoldUnsealed && !isSealed(bytes)) return unpack(bytes);
    throw new StoreError("damaged", "the table of field names is damaged");
  }

  /**
   * Accepts the encoder's new shapes. Returns true, because the shapes are stored before any value that uses them is
   * read.
   */
  takeShapes(shapes: unknown): true {
    this.#newShapes = pack(shapes);
    this.#countShapes(shapes);
    return true;
  }

  #countShapes(shapes: unknown): void {
    this.#shapeCount = Array.isArray(shapes) ? shapes.length : 0;
  }

  /** Runs `work` in a transaction, and retries if a signal interrupts the flush. */
  #uninterrupted<Result>(work: () => Result): Result {
    for (let attempt = 1; ; attempt++) {
      try {
        return this.#root.transactionSync(work);
      } catch (error) {
        if (!isInterrupted(error) || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  }

  /** Stores the encoded shapes with a checksum. `shapes` has no checksum yet. */
  #putShapes(shapes: Uint8Array): void {
    const bytes = Buffer.concat([Buffer.alloc(SEAL_BYTES), shapes]);
    this.#root.put(SHAPES, asBinary(seal(SHAPES_NAME, bytes)));
  }

  /** Decodes a value. In a range, `options` is the value's length, and the buffer may be longer. */
  #decode(bytes: Uint8Array, options: unknown): unknown {
    const end = typeof options === "number" ? options : bytes.length;
    try {
      if (isIntact(this.#key, bytes, end)) return this.#encoder.decode(bytes, { start: SEAL_BYTES, end });
      if (this.#mayHoldUnsealed && !isSealed(bytes)) return this.#encoder.decode(bytes, { start: 0, end });
      return new DamagedValue(new Error("a value's checksum does not match"));
    } catch (error) {
      return new DamagedValue(error);
    }
  }

  #readMayHoldUnsealed(): boolean {
    return [FORMAT_KEY, FROM_KEY].some((key) => (this.#readFormat(key) ?? SEALED_FORMAT) < SEALED_FORMAT);
  }

  /**
   * Returns the format under a key; undefined if there is none. A format below {@link SEALED_FORMAT} may lack a
   * checksum.
   */
  #readFormat(key: Key): number | undefined {
    const bytes = this.#root.getBinary([...key]);
    if (bytes === undefined) return undefined;
    if (isIntact(key, bytes, bytes.length)) return Number(unpack(bytes.subarray(SEAL_BYTES)));
    const [format = 0] = bytes;
    if (bytes.length === 1 && format > 0 && format < SEALED_FORMAT) return format;
    throw new StoreError("damaged", "the store's format is damaged");
  }
}

/** Returns the parts of the binding that its types omit. */
function internals(root: object): Internals {
  const { encoder, readKey, writeKey } = root as Partial<Record<keyof Internals, unknown>>;
  if (isEncoder(encoder) && isReadKey(readKey) && isWriteKey(writeKey)) return { encoder, readKey, writeKey };
  throw new Error("this release of lmdb has no encoder");
}

interface Internals {
  readonly encoder: Encoder;
  readonly readKey: ReadKey;
  readonly writeKey: WriteKey;
}

function isEncoder(value: unknown): value is Encoder {
  return typeof value === "object" && value !== null && "encode" in value && "decode" in value && "useBuffer" in value;
}

type ReadKey = (bytes: Uint8Array, start: number, end: number) => unknown;

function isReadKey(value: unknown): value is ReadKey {
  return typeof value === "function";
}

function isWriteKey(value: unknown): value is WriteKey {
  return typeof value === "function";
}

/** Converts a key from the binding, which represents a single-part key as the part itself. */
export function toKey(key: unknown): Key {
  return (Array.isArray(key) ? key : [key]) as Key;
}

/** The LMDB binding's key writer: writes a key at a position of `target` and returns the position after it. */
export type WriteKey = (key: unknown, target: Uint8Array, position: number, inSequence?: boolean) => number;

/** Minimum length, in characters, from which the binding writes a text natively. */
const LONG = 0x40;

const { charCodeAt } = String.prototype;

/**
 * Writes keys exactly as the binding does, in a third of the binding's time. The binding looks up `charCodeAt` on the
 * text for every character. V8 is slow at this lookup after it has seen texts in many internal forms, as in any process
 * with varied work. For parts of plain ASCII, this writer calls a function that was looked up once. It leaves all other
 * parts to the binding.
 */
export function keyWriter(writeKey: WriteKey): WriteKey {
  const writePart = (part: unknown, target: Uint8Array, position: number): number => {
    if (typeof part !== "string") return writeKey(part, target, position, true);
    const { length } = part;
    if (length === 0 || length >= LONG) return writeKey(part, target, position, true);
    for (let index = 0; index < length; index++) {
      const unit = charCodeAt.call(part, index);
      if (unit < FIRST_PLAIN || unit > LAST_PLAIN) return writeKey(part, target, position, true);
      target[position + index] = unit;
    }
    return position + length;
  };
  return (key, target, position, inSequence) => {
    if (!Array.isArray(key)) return writeKey(key, target, position, inSequence);
    let end = position;
    for (let index = 0; index < key.length; index++) {
      if (index > 0) target[end++] = 0;
      end = writePart(key[index], target, end);
    }
    // The binding also writes a terminating zero, which does not count in the key's length.
    if (inSequence !== true) target[end] = 0;
    return end;
  };
}
