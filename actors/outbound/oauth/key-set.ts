import { createLocalJWKSet, importJWK } from "jose";
import { z } from "zod";

/** Finds the issuer's key that fits a token's header. */
export type KeySet = ReturnType<typeof createLocalJWKSet>;

const MAX_KEYS = 100;
/** A key set as issuers publish it (RFC 7517, 5). */
export const keySetSchema = z.object({ keys: z.array(z.unknown()).max(MAX_KEYS) });
/** An optional member. Some hosts write null or an empty text for a missing value. */
const optional = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => (value === null || value === "" ? undefined : value), schema.optional());

/** Removes repeated operations. An empty list restricts nothing, like an absent one. */
function toOperations(operations: readonly string[]): string[] | undefined {
  return operations.length === 0 ? undefined : [...new Set(operations)];
}

/**
 * The public fields of a key. Keys of other types are ignored, as RFC 7517 (5) says. A number as `kid` is read as text;
 * an invalid `kid` counts as absent.
 */
const keySchema = z.object({
  kty: z.enum(["RSA", "EC"]),
  kid: optional(z.union([z.string(), z.number(), z.bigint()]).transform(String).pipe(z.string().max(255))).catch(
    undefined,
  ),
  use: optional(z.string()),
  alg: optional(z.string()),
  key_ops: optional(
    z.union([z.array(z.string()), z.string().transform((operation) => [operation])]).transform(toOperations),
  ),
  n: optional(z.string()),
  e: optional(z.string()),
  crv: optional(z.string()),
  x: optional(z.string()),
  y: optional(z.string()),
});

/**
 * Creates a key set from the published keys that can verify signatures. Leaves out all other keys, including unreadable
 * ones.
 */
export async function toKeySet(published: readonly unknown[]): Promise<KeySet> {
  const keys = published.flatMap((key) => keySchema.safeParse(key).data ?? []);
  const usable = await Promise.all(keys.map(isUsable));
  return createLocalJWKSet({ keys: keys.filter((_, at) => usable[at]) });
}

/** The algorithm with which an EC key is imported to test it, by curve. */
const importAlgorithms: Readonly<Record<string, string>> = { "P-256": "ES256", "P-384": "ES384" };
/** Minimum size of an RSA key, in bits (RFC 7518, 3.3). */
const MIN_RSA_BITS = 2_048;

/** Whether the key can verify signatures. */
async function isUsable(key: z.output<typeof keySchema>): Promise<boolean> {
  const alg = key.kty === "RSA" ? "RS256" : importAlgorithms[key.crv ?? ""];
  if (alg === undefined) return false;
  try {
    const imported = await importJWK({ kty: key.kty, n: key.n, e: key.e, crv: key.crv, x: key.x, y: key.y }, alg);
    if (imported instanceof Uint8Array || imported.type !== "public") return false;
    const { modulusLength = MIN_RSA_BITS } = imported.algorithm as { readonly modulusLength?: number };
    return modulusLength >= MIN_RSA_BITS;
  } catch {
    return false;
  }
}
