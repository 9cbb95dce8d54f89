/** Ids of shapes begin here (msgpackr's records). */
const FIRST_ID = 0x40;
/** Ids from here on take two bytes, of which the first has five bits. */
const FIRST_LONG_ID = 0x60;
/** Bytes of the buffers that values are encoded into, one after another. */
const SLAB_BYTES = 64 * 1_024;
/** A buffer with less room than this is not begun with. */
const LEAST_ROOM = 2_048;
/** No value but a text takes more bytes than this. */
const SMALL_BYTES = 9;
/** What begins a text takes at most so many bytes. */
const MAX_TEXT_HEAD = 5;
/** Text of fewer units is copied one by one: a call of the buffer's own takes longer. */
const SHORT_TEXT = 0x40;

/** The field names of records, with what the records of one shape look alike in. */
interface Shape {
  readonly id: number;
  readonly names: readonly string[];
  /** By the field's place: the shape of the last record that stood there. */
  readonly below: (Shape | undefined)[];
}

/**
 * Encodes plain data just as msgpackr does, byte for byte, in less time: the shape of a record is guessed by where it
 * stands and compared, instead of looked up field by field. It knows the shapes that msgpackr has handed out, and hands
 * out none.
 */
export class PlainEncoder {
  readonly #reserved: number;
  #slab: Buffer = Buffer.allocUnsafeSlow(SLAB_BYTES);
  /** Where the value that is encoded begins, and where its next byte goes. */
  #begin = 0;
  #at = 0;
  /** The shapes known to msgpackr, as they were when these were taken over. */
  #known: readonly (readonly string[])[] = [];
  #shapes = new Map<string, Shape>();
  #count = 0;
  /** Its only field is the whole value. */
  #root: Shape = createShape(0, []);

  /** `reserved` bytes are left free in front of each value. */
  constructor(reserved: number) {
    this.#reserved = reserved;
  }

  /**
   * The encoded value; null when it is left to msgpackr: it holds a record of a shape that is not among the first
   * `count` ones, or something besides records, lists, texts, numbers, truth values, null and undefined.
   */
  encode(value: unknown, shapes: readonly (readonly string[])[], count: number): Buffer | null {
    if (shapes !== this.#known || count !== this.#count) this.#takeOver(shapes, count);
    if (this.#slab.length - this.#at < LEAST_ROOM) {
      this.#slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
      this.#at = 0;
    }
    this.#begin = this.#at;
    this.#at += this.#reserved;
    if (this.#put(value, this.#root, 0)) return this.#slab.subarray(this.#begin, this.#at);
    this.#at = this.#begin;
    return null;
  }

  #takeOver(shapes: readonly (readonly string[])[], count: number): void {
    this.#known = shapes;
    this.#count = count;
    this.#root = createShape(0, []);
    this.#shapes = new Map();
    for (let index = 0; index < count; index++) {
      const names = shapes[index];
      if (names !== undefined) this.#shapes.set(toName(names), createShape(FIRST_ID + index, names));
    }
  }

  /** Encodes a value of a field; false when it cannot. */
  #put(value: unknown, under: Shape, field: number): boolean {
    if (typeof value === "string") {
      this.#putText(value);
      return true;
    }
    this.#makeRoom(SMALL_BYTES);
    if (typeof value === "number") {
      this.#putNumber(value);
      return true;
    }
    if (value === null) return this.#putByte(0xc0);
    if (typeof value === "boolean") return this.#putByte(value ? 0xc3 : 0xc2);
    if (value === undefined) return this.#putByte(0xd4) && this.#putByte(0) && this.#putByte(0);
    if (typeof value !== "object") return false;
    if (Array.isArray(value)) return this.#putList(value, under, field);
    return this.#putRecord(value as Readonly<Record<string, unknown>>, under, field);
  }

  #putByte(byte: number): true {
    this.#slab[this.#at++] = byte;
    return true;
  }

  #putList(list: readonly unknown[], under: Shape, field: number): boolean {
    const { length } = list;
    if (length >= 0x10000) return false;
    if (length < 0x10) this.#putByte(0x90 | length);
    else {
      this.#putByte(0xdc);
      this.#at = this.#slab.writeUInt16BE(length, this.#at);
    }
    for (let index = 0; index < length; index++) if (!this.#put(list[index], under, field)) return false;
    return true;
  }

  #putRecord(record: Readonly<Record<string, unknown>>, under: Shape, field: number): boolean {
    if (Object.getPrototypeOf(record) !== Object.prototype) return false;
    let shape = under.below[field];
    if (shape === undefined || !isOf(shape, record)) {
      shape = this.#shapes.get(toName(Object.keys(record)));
      if (shape === undefined || !isOf(shape, record)) return false;
      under.below[field] = shape;
    }
    const { id } = shape;
    if (id < FIRST_LONG_ID) this.#putByte(id);
    else {
      this.#putByte(FIRST_LONG_ID + ((id - FIRST_LONG_ID) & 0x1f));
      this.#putByte((id - FIRST_LONG_ID) >> 5);
    }
    let at = 0;
    for (const name in record) if (!this.#put(record[name], shape, at++)) return false;
    return true;
  }

  #putNumber(value: number): void {
    const slab = this.#slab;
    if (value >>> 0 === value) {
      if (value < FIRST_ID) slab[this.#at++] = value;
      else if (value < 0x100) {
        slab[this.#at++] = 0xcc;
        slab[this.#at++] = value;
      } else if (value < 0x10000) {
        slab[this.#at++] = 0xcd;
        this.#at = slab.writeUInt16BE(value, this.#at);
      } else {
        slab[this.#at++] = 0xce;
        this.#at = slab.writeUInt32BE(value, this.#at);
      }
    } else if (value >> 0 === value) this.#putNegative(value);
    else {
      slab[this.#at++] = 0xcb;
      this.#at = slab.writeDoubleBE(value, this.#at);
    }
  }

  /** A negative integer of at most 32 bits. */
  #putNegative(value: number): void {
    const slab = this.#slab;
    if (value >= -0x20) slab[this.#at++] = 0x100 + value;
    else if (value >= -0x80) {
      slab[this.#at++] = 0xd0;
      slab[this.#at++] = 0x100 + value;
    } else if (value >= -0x8000) {
      slab[this.#at++] = 0xd1;
      this.#at = slab.writeInt16BE(value, this.#at);
    } else {
      slab[this.#at++] = 0xd2;
      this.#at = slab.writeInt32BE(value, this.#at);
    }
  }

  #putText(text: string): void {
    const { length } = text;
    this.#makeRoom(MAX_TEXT_HEAD + 3 * length);
    const slab = this.#slab;
    const at = this.#at;
    // Most text takes as many bytes as it has units; what takes more may have to be moved.
    const guessed = headBytes(length);
    const isShort = length < SHORT_TEXT && copyPlain(text, slab, at + guessed);
    const bytes = isShort ? length : slab.write(text, at + guessed);
    const head = headBytes(bytes);
    if (head !== guessed) slab.copyWithin(at + head, at + guessed, at + guessed + bytes);
    if (head === 1) slab[at] = 0xa0 | bytes;
    else if (head === 2) {
      slab[at] = 0xd9;
      slab[at + 1] = bytes;
    } else if (head === 3) {
      slab[at] = 0xda;
      slab.writeUInt16BE(bytes, at + 1);
    } else {
      slab[at] = 0xdb;
      slab.writeUInt32BE(bytes, at + 1);
    }
    this.#at = at + head + bytes;
  }

  /** Goes on in a larger buffer when this one has no room for so many bytes. */
  #makeRoom(bytes: number): void {
    if (this.#at + bytes <= this.#slab.length) return;
    const encoded = this.#slab.subarray(this.#begin, this.#at);
    this.#slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, 2 * encoded.length + bytes));
    encoded.copy(this.#slab);
    this.#at = encoded.length;
    this.#begin = 0;
  }
}

/** Field names are compared the faster for being the engine's own: those of an object are. */
function createShape(id: number, names: readonly string[]): Shape {
  return { id, names: Object.keys(Object.fromEntries(names.map((name) => [name, null]))), below: [] };
}

/** The name of a shape; one of names with commas may have that of another. */
function toName(names: readonly string[]): string {
  return names.join();
}

/** Whether the record has just these fields, in their order. */
function isOf({ names }: Shape, record: object): boolean {
  let at = 0;
  for (const name in record) if (name !== names[at++]) return false;
  return at === names.length;
}

/** Bytes before a text of so many bytes. */
function headBytes(bytes: number): number {
  if (bytes < 0x20) return 1;
  if (bytes < 0x100) return 2;
  return bytes < 0x10000 ? 3 : 5;
}

/** Copies text that takes one byte for each unit; false when it does not. */
function copyPlain(text: string, to: Buffer, at: number): boolean {
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0x80) return false;
    to[at + index] = unit;
  }
  return true;
}
