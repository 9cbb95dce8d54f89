import type { Turn } from "../../runtime/turn.js";
import type { Reading, Writing } from "../../storage/store.js";
import { findBlob, holdBlob, storeBlob } from "./blobs.js";

/** Stores a text as a body and returns the digest that rows refer to it by; null for the empty text. */
export function storeText(writing: Writing, workspaceId: string, text: string): string | null {
  return text === "" ? null : storeBlob(writing, workspaceId, Buffer.from(text));
}

/** Stores a text as a body for a row of a later turn that is to refer to it; null for the empty text. */
export function holdText(turn: Turn, workspaceId: string, text: string): string | null {
  return text === "" ? null : holdBlob(turn, workspaceId, Buffer.from(text));
}

/** The text with this digest; empty for null. Throws when it is missing: a body is stored while rows refer to it. */
export function getText(reading: Reading, workspaceId: string, digest: string | null): string {
  if (digest === null) return "";
  const body = findBlob(reading, workspaceId, digest);
  if (body === undefined) throw new Error(`there is no body ${digest}`);
  return Buffer.from(body).toString();
}
