import { createHmac } from "node:crypto";

/** The `webhook-signature` of Standard Webhooks over id, timestamp and body, under a `whsec_...` secret. */
export function signMessage(
  secret: string,
  message: { readonly id: string; readonly timestamp: number; readonly body: string },
): string {
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const { id, timestamp, body } = message;
  return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
}
