import { LRUCache } from "lru-cache";
/** Parts of a request that some models do not accept. */
export type ModelPart =
  | "temperature"
  /** The JSON schema of the answer. Without it, the request describes the schema in words. */
  | "schema"
  /** Without it, the request has `max_completion_tokens`. */
  | "max-tokens"
  | "max-completion-tokens"
  /** System messages. Without them, their texts go at the start of the first user message. */
  | "system";

/** How refusals name each part. If a refusal names several parts, the first in this list is dropped first. */
const NAMES: readonly (readonly [ModelPart, RegExp])[] = [
  ["temperature", /temperature/i],
  ["schema", /schema|response.?format|structured.?output|json.?(mode|object|output)/i],
  ["max-tokens", /max.?(\w{1,20}.)?tokens/i],
  ["max-completion-tokens", /max.?(\w{1,20}.)?tokens/i],
  ["system", /\bsystem\b|\broles?\b|\bdeveloper.?(message|instruction)|\balternat/i],
];

/**
 * Returns the part that a refusal names, among the parts that the request still has; null if the refusal names no such
 * part. Searches the whole body. Text that quotes the request is searched last, because it may contain the names of all
 * parts.
 */
export function findNamedPart(without: ReadonlySet<ModelPart>, body: string): ModelPart | null {
  const parts = NAMES.filter(([part]) => !without.has(part));
  const find = (text: string) => parts.find(([, name]) => name.test(text))?.[0] ?? null;
  return find(withoutQuotes(body)) ?? find(body);
}

/** Returns a refusal's text without its `input` members, in which validators quote the rejected input. */
function withoutQuotes(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), (name, value) => (name === "input" ? undefined : value));
  } catch {
    // Not JSON, or nested too deeply to write.
    return body;
  }
}

/** Maximum number of models to cache limits for. If there are more, the least recently used model is evicted. */
const MAX_KNOWN_MODELS = 200;

/** Remembers, for each model, the request parts that this model does not accept. Kept in memory only. */
export class KnownLimits {
  readonly #limits = new LRUCache<string, ReadonlySet<ModelPart>>({ max: MAX_KNOWN_MODELS });

  read(model: string): ReadonlySet<ModelPart> {
    return this.#limits.get(model) ?? new Set();
  }

  /** Adds parts that a model does not accept. */
  add(model: string, without: ReadonlySet<ModelPart>): void {
    const known = new Set([...this.read(model), ...without]);
    if (known.size > 0) this.#limits.set(model, known);
  }
}
