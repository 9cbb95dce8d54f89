import type { Json } from "../../expressions/values.js";

/** What stands for a token or a secret. */
export const MASK = "***";
/** A shorter value is no secret: masking it would only destroy what an answer says. */
const MIN_CHARACTERS = 4;

/** Masks what was sent in secret wherever an answer repeats it. */
export interface Mask {
  text(text: string): string;
  /** As `text`, for every text and name within JSON. */
  json(json: Json): Json;
}

/** A mask of these values, and of their forms in addresses, JSON and Basic credentials. */
export function createMask(secrets: readonly string[]): Mask {
  const forms = new Set(secrets.filter((secret) => secret.length >= MIN_CHARACTERS).flatMap(formsOf));
  // The longest first: one secret may be a part of another.
  const hidden = [...forms].sort((left, right) => right.length - left.length);
  const text = (text: string): string => hidden.reduce((masked, form) => masked.replaceAll(form, MASK), text);
  const json = (value: Json): Json => {
    if (typeof value === "string") return text(value);
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(json);
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [text(name), json(inner)]));
  };
  return { text, json: hidden.length === 0 ? (value) => value : json };
}

function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [
    // The host of an address is in lower case.
    ...[secret, secret.toLowerCase(), encodeURIComponent(bytes.toString()), JSON.stringify(secret).slice(1, -1)],
    ...(["base64", "base64url"] as const).flatMap((encoding) => [
      bytes.toString(encoding),
      ...[0, 1, 2].map((before) => encodedWithin(bytes, before, encoding)),
    ]),
  ];
}

/** The characters of base64 that only these bytes decide, after `before` (modulo 3) other bytes: as after `user:`. */
function encodedWithin(bytes: Buffer, before: number, encoding: "base64" | "base64url"): string {
  const all = Buffer.concat([Buffer.alloc(before), bytes]);
  return all.toString(encoding).slice(Math.ceil((before * 4) / 3), Math.floor((all.length * 4) / 3));
}
