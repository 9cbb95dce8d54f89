import type { ModelPart } from "./model-limits.js";

export interface ModelMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

/** A JSON schema, as zod writes it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** One request to a model. */
export interface ModelRequest {
  readonly model: string;
  readonly messages: readonly ModelMessage[];
  /** The JSON schema of the answer. */
  readonly schema: JsonSchema;
  /** Maximum length of the answer, in tokens. */
  readonly maxTokens: number;
}

/** Writes the request body, without the parts that the model does not accept. */
export function toModelBody(request: ModelRequest, without: ReadonlySet<ModelPart>): string {
  const { model, schema } = request;
  return JSON.stringify({
    model,
    messages: toMessages(request, without),
    ...toTokenLimit(request, without),
    ...(without.has("temperature") ? {} : { temperature: 0 }),
    ...(without.has("schema")
      ? {}
      : { response_format: { type: "json_schema", json_schema: { name: "answer", strict: true, schema } } }),
  });
}

function toTokenLimit({ maxTokens }: ModelRequest, without: ReadonlySet<ModelPart>) {
  if (!without.has("max-tokens")) return { max_tokens: maxTokens };
  return without.has("max-completion-tokens") ? {} : { max_completion_tokens: maxTokens };
}

/**
 * Returns the messages in the order that chat templates require: at most one system message, which comes first, and
 * then the turns of user and model. If the schema cannot be sent, the instructions describe it in words.
 */
function toMessages({ messages, schema }: ModelRequest, without: ReadonlySet<ModelPart>): readonly ModelMessage[] {
  const inWords = `Answer with one JSON object that matches this JSON schema: ${JSON.stringify(schema)}`;
  const instructions = [
    ...messages.filter(({ role }) => role === "system").map(({ content }) => content),
    ...(without.has("schema") ? [inWords] : []),
  ];
  const turns = messages.filter(({ role }) => role !== "system");
  if (instructions.length === 0) return turns;
  if (!without.has("system")) return [{ role: "system", content: instructions.join("\n\n") }, ...turns];
  const [first, ...others] = turns;
  const given = first === undefined ? [] : [first.content];
  return [{ role: "user", content: [...instructions, ...given].join("\n\n") }, ...others];
}
