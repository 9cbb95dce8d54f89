import { createHash } from "node:crypto";
import { canonicalJson } from "../resources/canonical-json.js";
import { parseInputs } from "../runners/call-inputs.js";

/** What an agent asks for. */
interface Asked {
  /** Key of the integration. */
  readonly server: string;
  readonly tool: string;
  /** The JSON text of an object, as the agent gave it, without defaults. */
  readonly inputs: string;
}

/** SHA-256 (hex), the same for calls of a tool with equal inputs, whatever the order of their members. */
export function toAskedDigest({ server, tool, inputs }: Asked): string {
  const canonical = canonicalJson([server, tool, parseInputs(inputs)]);
  return createHash("sha256").update(canonical).digest("hex");
}
