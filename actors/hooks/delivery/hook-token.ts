import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";

/** Lifetime of a hook token (configuration API, Limits), in seconds. */
export const HOOK_TOKEN_SECONDS = 5 * 60;

/** The public half of a signing key, as published (RFC 7517). */
export interface PublicKey {
  readonly kty: string;
  readonly crv: string;
  readonly x: string;
  readonly y: string;
  /** The key's thumbprint (RFC 7638). */
  readonly kid: string;
  readonly alg: "ES256";
  readonly use: "sig";
}

/** Signs hook tokens with the deployment's key. */
export interface HookTokenSigner {
  readonly publicKey: PublicKey;
  sign(about: HookTokenClaims): string;
}

/** The claims of a token about its request (configuration API, Hook request authentication). */
export interface HookTokenClaims {
  readonly issuer: string;
  readonly audience: string;
  readonly workspaceId: string;
  readonly teamId: string;
  readonly hook: string;
  readonly occurrence: string;
  readonly webhookId: string;
  readonly body: string;
  readonly tokenId: string;
  readonly nowMs: number;
}

/**
 * Creates a signer from an ES256 private key, in PEM or as a JWK. Throws for any other text. The signer is synchronous,
 * because the service prepares requests synchronously. The service does not use the library jose, which signs in the
 * thread pool of the process: reading and writing stored data also needs this pool.
 */
export function createHookTokenSigner(privateKey: string): HookTokenSigner {
  const key = readKey(privateKey);
  const publicKey = toPublicKey(key);
  const header = encoded({ alg: "ES256", kid: publicKey.kid, typ: "JWT" });
  return {
    publicKey,
    sign(about) {
      const issuedAt = Math.floor(about.nowMs / 1_000);
      const claims = encoded({
        iss: about.issuer,
        aud: about.audience,
        sub: `hook:${about.workspaceId}/${about.teamId}/${about.hook}`,
        iat: issuedAt,
        exp: issuedAt + HOOK_TOKEN_SECONDS,
        jti: about.tokenId,
        occurrence: about.occurrence,
        webhook_id: about.webhookId,
        body_sha256: createHash("sha256").update(about.body).digest("base64url"),
      });
      const signed = `${header}.${claims}`;
      // JWS concatenates r and s instead of using DER (RFC 7518, 3.4).
      const signature = sign("sha256", Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" });
      return `${signed}.${signature.toString("base64url")}`;
    },
  };
}

function readKey(text: string): KeyObject {
  const key = text.trimStart().startsWith("{")
    ? createPrivateKey({ key: JSON.parse(text), format: "jwk" })
    : createPrivateKey(text);
  if (key.asymmetricKeyDetails?.namedCurve !== "prime256v1") throw new Error("the key is not an ES256 private key");
  return key;
}

function toPublicKey(key: KeyObject): PublicKey {
  const { kty = "", crv = "", x = "", y = "" } = createPublicKey(key).export({ format: "jwk" });
  const kid = createHash("sha256").update(JSON.stringify({ crv, kty, x, y })).digest("base64url");
  return { kty, crv, x, y, kid, alg: "ES256", use: "sig" };
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}
