import { createCipheriv, createDecipheriv, createHmac, createSecretKey, hash, hkdfSync } from "node:crypto";

/** Encrypts stored values, and digests values that are only compared. */
export interface Sealer {
  /** Encrypts with AES-256-GCM and a fresh nonce. The text form is `v1.<nonce>.<tag>.<ciphertext>` in base64url. */
  seal(plain: string): string;
  /** Decrypts a value that `seal` encrypted with the same key. Throws for anything else. */
  open(sealed: string): string;
  /**
   * Returns an HMAC-SHA256 in hex. Equal texts have equal digests, and a short text cannot be guessed from its digest.
   */
  digest(text: string): string;
}

const NONCE_BYTES = 12;
/** Number of nonces to get from `randomBytes` in one call. A call takes longer than encrypting a short value. */
const NONCES_AT_ONCE = 256;

/** Creates a sealer with a key of 32 bytes. `randomBytes` must be cryptographically strong. */
export function createSealer(key: Uint8Array, randomBytes: (count: number) => Uint8Array): Sealer {
  if (key.length !== 32) throw new Error("a sealing key has 32 bytes");
  const sealingKey = derive(key, "seal");
  const digestKey = createSecretKey(derive(key, "digest"));
  const nextNonce = createNonces(randomBytes);
  return {
    seal(plain) {
      const nonce = nextNonce();
      const cipher = createCipheriv("aes-256-gcm", sealingKey, nonce);
      const body = cipher.update(plain, "utf8");
      // Ignore the result of `final`, which is empty. GCM is a stream mode, so `update` has already returned the whole
      // ciphertext.
      cipher.final();
      const [start, tag] = [nonce.toString("base64url"), cipher.getAuthTag().toString("base64url")];
      return `v1.${start}.${tag}.${body.toString("base64url")}`;
    },
    open(sealed) {
      const [form, nonce, tag, body] = sealed.split(".");
      if (form !== "v1" || nonce === undefined || tag === undefined || body === undefined) {
        throw new Error("this is not a sealed value");
      }
      const decipher = createDecipheriv("aes-256-gcm", sealingKey, Buffer.from(nonce, "base64url"));
      decipher.setAuthTag(Buffer.from(tag, "base64url"));
      return Buffer.concat([decipher.update(Buffer.from(body, "base64url")), decipher.final()]).toString("utf8");
    },
    digest: (text) => createHmac("sha256", digestKey).update(text).digest("hex"),
  };
}

/** Returns a function that returns each nonce once. */
function createNonces(randomBytes: (count: number) => Uint8Array): () => Buffer {
  let drawn: Buffer = Buffer.alloc(0);
  let at = 0;
  return () => {
    if (at === drawn.length) {
      drawn = Buffer.from(randomBytes(NONCE_BYTES * NONCES_AT_ONCE));
      at = 0;
    }
    at += NONCE_BYTES;
    return drawn.subarray(at - NONCE_BYTES, at);
  };
}

function derive(key: Uint8Array, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", key, new Uint8Array(), `signalbox ${purpose}`, 32));
}

/** Returns the SHA-256 in hex. The digest has no key, so a secret text needs enough entropy of its own (a token). */
export function sha256Hex(text: string | Uint8Array): string {
  return hash("sha256", text, "hex");
}
