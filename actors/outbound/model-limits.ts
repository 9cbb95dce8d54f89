/** Parts of a request that some models do not take. */
export type ModelPart =
  | "temperature"
  /** The form of the answer as a JSON schema. It is asked for in words instead. */
  | "schema"
  /** `max_completion_tokens` is sent instead. */
  | "max-tokens"
  | "max-completion-tokens"
  /** System messages. Their texts begin the first message of the user instead. */
  | "system";

/** How refusals name each part. Of several named parts the first one here is left out first. */
const NAMES: readonly (readonly [ModelPart, RegExp])[] = [
  ["temperature", /temperature/i],
  ["schema", /schema|response.?format|structured.?output|json.?(mode|object|output)/i],
  ["max-tokens", /max.?(\w{1,20}.)?tokens/i],
  ["max-completion-tokens", /max.?(\w{1,20}.)?tokens/i],
  ["system", /\bsystem\b|\broles?\b|\bdeveloper.?(message|instruction)|\balternat/i],
];

/**
 * The part that a refusal names anywhere in its body, of those that the request still has; null when it names none. Of a
 * refusal that quotes the request, the quotes are looked at last: they may hold the names of all parts.
 */
export function findNamedPart(without: ReadonlySet<ModelPart>, body: string): ModelPart | null {
  const parts = NAMES.filter(([part]) => !without.has(part));
  const find = (text: string) => parts.find(([, name]) => name.test(text))?.[0] ?? null;
  return find(withoutQuotes(body)) ?? find(body);
}

/** The text of a refusal without its members `input`, in which validators quote what they refuse. */
function withoutQuotes(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), (name, value) => (name === "input" ? undefined : value));
  } catch {
    // No JSON, or too deep to be written.
    return body;
  }
}

/** Most models of which it is remembered; beyond that the one that was asked least recently is forgotten. */
const MAX_KNOWN_MODELS = 200;

/** The parts that models do not take, by the models' names. */
export class KnownLimits {
  readonly #limits = new Map<string, ReadonlySet<ModelPart>>();

  of(model: string): ReadonlySet<ModelPart> {
    return this.#limits.get(model) ?? new Set();
  }

  /** Adds to what is known of a model. */
  add(model: string, without: ReadonlySet<ModelPart>): void {
    const known = new Set([...this.of(model), ...without]);
    this.#limits.delete(model);
    if (known.size === 0) return;
    this.#limits.set(model, known);
    const oldest = this.#limits.size > MAX_KNOWN_MODELS ? this.#limits.keys().next() : undefined;
    if (oldest?.done === false) this.#limits.delete(oldest.value);
  }
}
