import { createPrivateKey, type KeyObject, sign } from "node:crypto";

/** Signs the service's own tokens for the code host. */
export interface AppSigner {
  /** The app's JSON Web Token (RS256), valid for nine minutes from `nowMs`. Never stored, never logged. */
  token(nowMs: number): string;
}

/** How far the code host's clock may be behind ours, in seconds, as GitHub advises. */
const SKEW_SECONDS = 60;
/** Lifetime of a token, in seconds: the longest that GitHub accepts. */
const LIFETIME_SECONDS = 10 * 60;
/** Shortest key accepted, in bits. */
const LEAST_BITS = 2_048;

/** A signer for the app over its RSA private key, in PEM (PKCS1 or PKCS8). Throws when it is not one. */
export function createAppSigner(appId: string, privateKey: string): AppSigner {
  const key = readAppKey(privateKey);
  const header = encoded({ alg: "RS256", typ: "JWT" });
  return {
    token(nowMs) {
      const issuedAt = Math.floor(nowMs / 1_000) - SKEW_SECONDS;
      const signed = `${header}.${encoded({ iat: issuedAt, exp: issuedAt + LIFETIME_SECONDS, iss: appId })}`;
      return `${signed}.${sign("RSA-SHA256", Buffer.from(signed), key).toString("base64url")}`;
    },
  };
}

/** Settings are often carried on one line, with `\n` written out. */
function readAppKey(text: string): KeyObject {
  const key = createPrivateKey(text.replaceAll("\\n", "\n"));
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  if (key.asymmetricKeyType !== "rsa" || bits < LEAST_BITS) throw new Error("the key is no RSA private key");
  return key;
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}
