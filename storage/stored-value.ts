/**
 * The stored form of a value: a mark of one byte, the checksum of its key and bytes (4 bytes), then the bytes. A value
 * whose bytes changed on the disk, or that is found under another key, is recognised before it is decoded.
 *
 * 1. No MessagePack value begins with the mark, so values of formats before {@link SEALED_FORMAT} are told apart.
 * 2. Any change of a single byte of key or value changes the checksum; other changes do but for one in 2^32.
 */
import { crc32 } from "node:zlib";
import type { Key } from "./store.js";

/** The first format in which every value has a checksum. */
export const SEALED_FORMAT = 5;

/** Bytes before a value's own. */
export const SEAL_BYTES = 5;
const MARK = 0xc1;

/** Fills the first {@link SEAL_BYTES} of `bytes`, which are followed by the encoded value. */
export function seal(key: Key, bytes: Buffer): Buffer {
  bytes[0] = MARK;
  bytes.writeUInt32LE(checksum(key, bytes.subarray(SEAL_BYTES)), 1);
  return bytes;
}

/** Whether a value has a checksum. */
export function isSealed(bytes: Uint8Array): boolean {
  return bytes[0] === MARK;
}

/** Whether the first `length` of the bytes are a sealed value that was written under this key. */
export function isIntact(key: Key, bytes: Uint8Array, length: number): boolean {
  if (length <= SEAL_BYTES || bytes[0] !== MARK) return false;
  const byte = (at: number): number => bytes[at] ?? 0;
  const found = (byte(1) | (byte(2) << 8) | (byte(3) << 16) | (byte(4) << 24)) >>> 0;
  // The binding's buffers are longer than their `length` says.
  const value = new Uint8Array(bytes.buffer, bytes.byteOffset + SEAL_BYTES, length - SEAL_BYTES);
  return found === checksum(key, value);
}

function checksum(key: Key, value: Uint8Array): number {
  return crc32(value, hashKey(key));
}

/** FNV-1a (32 bits), over UTF-16 units; the constants are those of its authors. */
const FNV_BASIS = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
/** Ends a part of a key; no text in a key has these units. */
const AFTER_TEXT = 0;
const AFTER_NUMBER = 1;

function hashKey(key: Key): number {
  let hash = FNV_BASIS;
  for (const part of key) {
    const text = typeof part === "number" ? String(part) : part;
    for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), FNV_PRIME);
    hash = Math.imul(hash ^ (text === part ? AFTER_TEXT : AFTER_NUMBER), FNV_PRIME);
  }
  return hash >>> 0;
}
