import { createHash } from "node:crypto";

/** Maximum size of a text in a change feed, in bytes of UTF-8. */
export const MAX_FEED_TEXT_BYTES = 2_048;

/** Replaces a text that is too long for a feed: the text's SHA-256 in hex, and its size in bytes of UTF-8. */
export interface TextReference {
  readonly digest: string;
  readonly length: number;
}

/** Returns the text, or its reference if it is too long for a feed. */
export function toFeedText(text: string): string | TextReference {
  const length = Buffer.byteLength(text);
  return length <= MAX_FEED_TEXT_BYTES ? text : { digest: createHash("sha256").update(text).digest("hex"), length };
}

/** Maximum number of UTF-8 bytes per UTF-16 code unit. */
const UNIT_BYTES = 3;

/** Returns the data of a feed entry, with references instead of long texts at any depth. */
export function withFeedTexts(data: unknown): unknown {
  return mayHoldLongText(data) ? replaceTexts(data) : data;
}

function mayHoldLongText(value: unknown): boolean {
  if (typeof value === "string") return value.length > MAX_FEED_TEXT_BYTES / UNIT_BYTES;
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return false;
  for (const name in value) if (mayHoldLongText(value[name as keyof typeof value])) return true;
  return false;
}

function replaceTexts(value: unknown): unknown {
  if (typeof value === "string") return toFeedText(value);
  if (Array.isArray(value)) return value.map(replaceTexts);
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, replaceTexts(each)]));
}
