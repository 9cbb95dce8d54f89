import { createPrivateKey, type KeyObject } from "node:crypto";
import { SignJWT } from "jose";

/** Signs the app's own tokens for the code host. */
export interface AppSigner {
  /** Returns the app's JSON Web Token (RS256), valid for nine minutes from `nowMs`. Never store or log it. */
  token(nowMs: number): Promise<string>;
}

/** How far the code host's clock may be behind the service's, in seconds. GitHub recommends this value. */
const SKEW_SECONDS = 60;
/** Lifetime of a token in seconds, the maximum that GitHub accepts. */
const LIFETIME_SECONDS = 10 * 60;
/** Minimum key length, in bits. */
const LEAST_BITS = 2_048;

/**
 * Creates a signer from the app's RSA private key in PEM format (PKCS1 or PKCS8). Throws if the key is not an RSA
 * private key of at least {@link LEAST_BITS} bits.
 */
export function createAppSigner(appId: string, privateKey: string): AppSigner {
  const key = readAppKey(privateKey);
  return {
    token(nowMs) {
      const issuedAt = Math.floor(nowMs / 1_000) - SKEW_SECONDS;
      const claims = { iat: issuedAt, exp: issuedAt + LIFETIME_SECONDS, iss: appId };
      return new SignJWT(claims).setProtectedHeader({ alg: "RS256", typ: "JWT" }).sign(key);
    },
  };
}

/** Reads the key. Settings often contain it on one line, with `\n` written out. */
function readAppKey(text: string): KeyObject {
  const key = createPrivateKey(text.replaceAll("\\n", "\n"));
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  if (key.asymmetricKeyType !== "rsa" || bits < LEAST_BITS) throw new Error("the key is not an RSA private key");
  return key;
}
