import { createHash } from "node:crypto";
import { estimateWeight } from "./weight.js";

/** Longest text in a change feed, in bytes of UTF-8. */
export const MAX_FEED_TEXT_BYTES = 2_048;

/** A text that is too long for a feed: its SHA-256 in hex, and its length in bytes of UTF-8. */
export interface TextReference {
  readonly digest: string;
  readonly length: number;
}

/** The text, or its reference if it is too long for a feed. */
export function toFeedText(text: string): string | TextReference {
  const length = Buffer.byteLength(text);
  return length <= MAX_FEED_TEXT_BYTES ? text : { digest: createHash("sha256").update(text).digest("hex"), length };
}

/** The data of an entry with references in place of its long texts, at any depth. */
export function withFeedTexts(data: unknown): unknown {
  return estimateWeight(data, MAX_FEED_TEXT_BYTES / 3) <= MAX_FEED_TEXT_BYTES / 3 ? data : replaceTexts(data);
}

function replaceTexts(value: unknown): unknown {
  if (typeof value === "string") return toFeedText(value);
  if (Array.isArray(value)) return value.map(replaceTexts);
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, replaceTexts(each)]));
}
