import { canonicalJson } from "../../resources/canonical-json.js";
import { sha256Hex } from "../../sealer.js";
import type { IntegrationFields } from "../definition.js";
import type { RequestFields } from "./render-request.js";

/**
 * Returns a digest of an action, its request and the connection settings. If the digest differs from the digest that a
 * user approved, the request has changed.
 */
export function toRequestDigest(
  action: string,
  request: RequestFields,
  { connection }: Pick<IntegrationFields, "connection">,
): string {
  return sha256Hex(canonicalJson({ action, request, connection }));
}
