import { type TextReference, toFeedText } from "../../runtime/feeds/feed-texts.js";
import type { Turn } from "../../runtime/turns/turn.js";
import type { Reading, Writing } from "../../storage/store.js";
import { findBlob, holdBlob, storeBlob } from "./blobs.js";

/**
 * Stores a text as a body, in the turn of the row that refers to the body. Returns the digest for the row; null for the
 * empty text.
 */
export function storeText(writing: Writing, workspaceId: string, text: string): string | null {
  return text === "" ? null : storeBlob(writing, workspaceId, Buffer.from(text));
}

/** Stores a text as a body for a row of a later turn. Returns its digest; null for the empty text. */
export function holdText(turn: Turn, workspaceId: string, text: string): string | null {
  return text === "" ? null : holdBlob(turn, workspaceId, Buffer.from(text));
}

/**
 * Reads the text with this digest; "" for null. Throws if the text is missing: a body is stored while rows refer to it.
 */
export function getText(reading: Reading, workspaceId: string, digest: string | null): string {
  return digest === null ? "" : Buffer.from(getBody(reading, workspaceId, digest)).toString();
}

/** Maximum length of a slice of {@link readBodyInSlices}, in bytes. */
export const BODY_SLICE_BYTES = 1024 * 1024;

/**
 * Yields the bytes of the text with this digest in slices. Use it if the caller waits between slices: during a wait,
 * only the current slice must stay in memory. Throws if the text is missing.
 */
export function* readBodyInSlices(reading: Reading, workspaceId: string, digest: string): Generator<Uint8Array> {
  const body = rereadable(() => getBody(reading, workspaceId, digest));
  // Copy the slice, because a view of the body would keep the whole body in memory.
  const slice = (from: number) => Buffer.from(body().subarray(from, from + BODY_SLICE_BYTES));
  let from = 0;
  for (let bytes = slice(from); bytes.length > 0; bytes = slice(from)) {
    yield bytes;
    from += bytes.length;
  }
}

/**
 * Returns a function that returns the value of `read`. The function calls `read` again if the garbage collector has
 * removed the value.
 */
function rereadable<Value extends object>(read: () => Value): () => Value {
  let known: WeakRef<Value> | undefined;
  return () => {
    const value = known?.deref() ?? read();
    known = new WeakRef(value);
    return value;
  };
}

/** Reads the bytes of the text with this digest. Throws if it is missing. */
function getBody(reading: Reading, workspaceId: string, digest: string): Uint8Array {
  const body = findBlob(reading, workspaceId, digest);
  if (body === undefined) throw new Error(`there is no body ${digest}`);
  return body;
}

/** Maximum length of a text within a row, in bytes of UTF-8. Rows of earlier releases may hold longer texts. */
export const MAX_TEXT_IN_ROW_BYTES = 4_096;

/**
 * A text in a row or a stream. A long text is a reference: its digest (SHA-256, hex) and its length in bytes of UTF-8.
 */
export type StoredText = string | TextReference;

/** Converts a text to its stored form, in the turn of the row that refers to it. A long text is stored as a body. */
export function toStoredText(writing: Writing, workspaceId: string, text: string): StoredText {
  const length = Buffer.byteLength(text);
  return length <= MAX_TEXT_IN_ROW_BYTES
    ? text
    : { digest: storeBlob(writing, workspaceId, Buffer.from(text)), length };
}

/** Reads the whole text. */
export function readStoredText(reading: Reading, workspaceId: string, stored: StoredText): string {
  return typeof stored === "string" ? stored : getText(reading, workspaceId, stored.digest);
}

/** Lists the digests of the bodies that a row with this text refers to. */
export function digestsOfText(stored: StoredText): readonly string[] {
  return typeof stored === "string" ? [] : [stored.digest];
}

/** Converts a text to its form in streams. Readers get a long text from the API. */
export function toStreamText(stored: StoredText): StoredText {
  return typeof stored === "string" ? toFeedText(stored) : { ...stored };
}
