import { canonicalJson } from "../../resources/canonical-json.js";
import { sha256Hex } from "../../sealer.js";
import type { IntegrationFields } from "../definition.js";
import type { RequestFields } from "./render-request.js";

/**
 * Of an action, its request and the account that carries it, as a definition has them: what a person approved is told
 * apart from anything else.
 */
export function toRequestDigest(
  action: string,
  request: RequestFields,
  { connection }: Pick<IntegrationFields, "connection">,
): string {
  return sha256Hex(canonicalJson({ action, request, connection }));
}
