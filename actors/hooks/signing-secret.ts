const FORM = /^whsec_([A-Za-z0-9+/]+={0,2})$/;
const MIN_BYTES = 24;
const MAX_BYTES = 64;

/** Returns whether a text is a signing secret of Standard Webhooks: `whsec_` and 24 to 64 bytes in canonical base64. */
export function isSigningSecret(text: string): boolean {
  const encoded = FORM.exec(text)?.[1];
  if (encoded === undefined) return false;
  const bytes = Buffer.from(encoded, "base64");
  const isCanonical = bytes.toString("base64").replace(/=+$/, "") === encoded.replace(/=+$/, "");
  return isCanonical && bytes.length >= MIN_BYTES && bytes.length <= MAX_BYTES;
}
