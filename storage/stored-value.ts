/**
 * The stored form of a value: a mark of one byte, the checksum of key and value (4 bytes), then the bytes of the value.
 * The checksum reveals bytes that changed on disk, or a value under the wrong key, before the value is decoded.
 *
 * 1. No MessagePack value starts with the mark. So the mark distinguishes these values from the values of formats
 *    before {@link SEALED_FORMAT}.
 * 2. Any change of a single byte in key or value changes the checksum. Of all other changes, one in 2^32 goes
 *    undetected.
 */
import { crc32 } from "node:zlib";
import type { Key, KeyPart } from "./store.js";

/** The first format in which every value has a checksum. */
export const SEALED_FORMAT = 5;

/** Number of bytes before the value. */
export const SEAL_BYTES = 5;
const MARK = 0xc1;

/** Writes the mark and checksum into the first {@link SEAL_BYTES} of `bytes`. The encoded value must follow them. */
export function seal(key: Key, bytes: Buffer): Buffer {
  const sum = checksum(key, bytes, bytes.length);
  bytes[0] = MARK;
  bytes[1] = sum;
  bytes[2] = sum >>> 8;
  bytes[3] = sum >>> 16;
  bytes[4] = sum >>> 24;
  return bytes;
}

/** Whether a value has a checksum. */
export function isSealed(bytes: Uint8Array): boolean {
  return bytes[0] === MARK;
}

/** Whether the first `length` bytes are a sealed value that was written under this key. */
export function isIntact(key: Key, bytes: Uint8Array, length: number): boolean {
  if (length <= SEAL_BYTES || bytes[0] !== MARK) return false;
  const byte = (at: number): number => bytes[at] ?? 0;
  const found = (byte(1) | (byte(2) << 8) | (byte(3) << 16) | (byte(4) << 24)) >>> 0;
  return found === checksum(key, bytes, length);
}

/**
 * Returns the CRC-32 of the bytes after the seal, up to `end`. The computation starts with a hash of the key instead of
 * 0.
 */
function checksum(key: Key, bytes: Uint8Array, end: number): number {
  const hash = hashKey(key);
  if (end <= SEAL_BYTES + MAX_SHORT_BYTES) return crc32OfShort(bytes, SEAL_BYTES, end, hash);
  // Creating a view of the bytes after the seal would take as long as computing their checksum. So include the seal's
  // bytes, and choose a seed that cancels their effect.
  if (bytes.byteLength === end) return crc32(bytes, seedBefore(bytes, hash));
  // The binding's buffers are longer than their `length` says.
  return crc32(new Uint8Array(bytes.buffer, bytes.byteOffset + SEAL_BYTES, end - SEAL_BYTES), hash);
}

/**
 * Maximum length, in bytes, for which the checksum is computed without zlib: calling zlib would take longer than the
 * computation. Most values are shorter.
 */
const MAX_SHORT_BYTES = 160;
/** The reversed polynomial of CRC-32. */
const POLYNOMIAL = 0xedb88320;
/** Four tables of 256 entries. Table `n` contains the remainder of each byte when `n` zero bytes follow it. */
const REMAINDERS = createRemainders();

function createRemainders(): Int32Array {
  const remainders = new Int32Array(4 * 256);
  for (let byte = 0; byte < 256; byte++) {
    let remainder = byte;
    for (let bit = 0; bit < 8; bit++) remainder = (remainder & 1 ? POLYNOMIAL : 0) ^ (remainder >>> 1);
    remainders[byte] = remainder;
  }
  const at = (index: number): number => remainders[index] ?? 0;
  for (let index = 256; index < remainders.length; index++) {
    const before = at(index - 256);
    remainders[index] = at(before & 0xff) ^ (before >>> 8);
  }
  return remainders;
}

/** Maps the highest byte of a one-byte remainder, which is unique, to the remainder's index. */
const INDEX_OF_REMAINDER = new Uint8Array(256);
for (let index = 0; index < 256; index++) INDEX_OF_REMAINDER[(REMAINDERS[index] ?? 0) >>> 24] = index;

/**
 * Returns the seed for which `crc32` has the value `seed` after the first {@link SEAL_BYTES}, whatever these bytes are.
 */
function seedBefore(bytes: Uint8Array, seed: number): number {
  let sum = ~seed;
  for (let at = SEAL_BYTES - 1; at >= 0; at--) {
    const index = INDEX_OF_REMAINDER[sum >>> 24] ?? 0;
    sum = ((sum ^ (REMAINDERS[index] ?? 0)) << 8) | (index ^ (bytes[at] ?? 0));
  }
  return ~sum >>> 0;
}

/** Computes the same as zlib's `crc32` for the bytes from `begin` to `end`, four bytes at a time. */
export function crc32OfShort(bytes: Uint8Array, begin: number, end: number, seed: number): number {
  const byte = (at: number): number => bytes[at] ?? 0;
  const added = (index: number): number => REMAINDERS[index] ?? 0;
  let sum = ~seed;
  let at = begin;
  for (; at + 4 <= end; at += 4) {
    sum ^= byte(at) | (byte(at + 1) << 8) | (byte(at + 2) << 16) | (byte(at + 3) << 24);
    sum =
      added(768 + (sum & 0xff)) ^
      added(512 + ((sum >>> 8) & 0xff)) ^
      added(256 + ((sum >>> 16) & 0xff)) ^
      added(sum >>> 24);
  }
  for (; at < end; at++) sum = added((sum ^ byte(at)) & 0xff) ^ (sum >>> 8);
  return ~sum >>> 0;
}

/** FNV-1a (32 bits) over UTF-16 units. Its authors chose the constants. */
const FNV_BASIS = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
/** Marks the end of a key part. No text in a key contains these units. */
const AFTER_TEXT = 0;
const AFTER_NUMBER = 1;

/** Maximum number of key parts whose hashes are cached. Keys in a batch or list often start alike. */
const MAX_CACHED = 5;
/** The first parts of the last key, and the hash of that key up to and including each part. */
const cachedParts: KeyPart[] = [];
const cachedHashes = new Int32Array(MAX_CACHED);
let cachedCount = 0;

function hashKey(key: Key): number {
  let at = 0;
  while (at < cachedCount && at < key.length && key[at] === cachedParts[at]) at++;
  let hash = at === 0 ? FNV_BASIS : (cachedHashes[at - 1] ?? 0);
  if (at === key.length) return hash >>> 0;
  cachedCount = Math.min(key.length, MAX_CACHED);
  for (; at < key.length; at++) {
    const part = key[at] ?? "";
    hash = hashPart(hash, part);
    if (at >= MAX_CACHED) continue;
    cachedParts[at] = part;
    cachedHashes[at] = hash;
  }
  return hash >>> 0;
}

function hashPart(before: number, part: KeyPart): number {
  return typeof part === "string" ? hashText(before, part, AFTER_TEXT) : hashText(before, String(part), AFTER_NUMBER);
}

const { charCodeAt } = String.prototype;

function hashText(before: number, text: string, end: number): number {
  let hash = before;
  // Call the function that was looked up once, because V8 can be slow at the lookup (see `keyWriter` in
  // `lmdb-values.ts`).
  const { length } = text;
  for (let index = 0; index < length; index++) hash = Math.imul(hash ^ charCodeAt.call(text, index), FNV_PRIME);
  return Math.imul(hash ^ end, FNV_PRIME);
}
