import type { Json } from "../../expressions/values.js";

/** The replacement for a token or secret. */
export const MASK = "***";
/**
 * Minimum length of a value to mask, in characters. Shorter values are not secrets, and masking them would damage the
 * response.
 */
const MIN_CHARACTERS = 4;

/** Masks secrets that a response repeats. */
export interface Mask {
  text(text: string): string;
  /** Masks the secrets in every string and member name of a JSON value. */
  json(json: Json): Json;
}

/** Creates a mask for these values and their encoded forms in addresses, JSON and Basic credentials. */
export function createMask(secrets: readonly string[]): Mask {
  const forms = new Set(secrets.filter((secret) => secret.length >= MIN_CHARACTERS).flatMap(listForms));
  // Mask the longest form first, because one secret may be part of another.
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

function listForms(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [
    // Include the lower-case form, because the host of an address is lower case.
    ...[secret, secret.toLowerCase(), encodeURIComponent(bytes.toString()), JSON.stringify(secret).slice(1, -1)],
    ...(["base64", "base64url"] as const).flatMap((encoding) => [
      bytes.toString(encoding),
      ...[0, 1, 2].map((before) => encodedWithin(bytes, before, encoding)),
    ]),
  ];
}

/**
 * Returns the base64 characters that depend only on `bytes` if other bytes precede them. `before` is the number of the
 * preceding bytes, modulo 3. In Basic credentials, for example, `user:` precedes the secret.
 */
function encodedWithin(bytes: Buffer, before: number, encoding: "base64" | "base64url"): string {
  const all = Buffer.concat([Buffer.alloc(before), bytes]);
  return all.toString(encoding).slice(Math.ceil((before * 4) / 3), Math.floor((all.length * 4) / 3));
}
