import { createHash } from "node:crypto";
import { canonicalJson } from "../resources/canonical-json.js";
import { parseInputs } from "../runners/call-inputs.js";

/** A tool call as the agent asks for it. */
interface Asked {
  /** Key of the integration. */
  readonly server: string;
  readonly tool: string;
  /** JSON text of the object that the agent gave, without defaults. */
  readonly inputs: string;
}

/**
 * Returns the SHA-256 (hex) of a call. Calls of the same tool with equal inputs have the same digest. The order of the
 * inputs' members does not matter.
 */
export function toAskedDigest({ server, tool, inputs }: Asked): string {
  const canonical = canonicalJson([server, tool, parseInputs(inputs)]);
  return createHash("sha256").update(canonical).digest("hex");
}
