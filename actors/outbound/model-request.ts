import { readModelError } from "./model-answer.js";

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
  /** The form of the answer. */
  readonly schema: JsonSchema;
  /** Longest answer, in tokens. */
  readonly maxTokens: number;
}

/** Parts of a request that a model does not take. */
export interface ModelLimits {
  readonly temperature: boolean;
  readonly schema: boolean;
  /** It takes `max_completion_tokens` in place of `max_tokens`. */
  readonly maxTokens: boolean;
}

/** A model that takes every part. */
export const NO_LIMITS: ModelLimits = { temperature: false, schema: false, maxTokens: false };

/** The body of the request. A form that cannot be asked for with a schema is asked for in words. */
export function toModelBody({ model, messages, schema, maxTokens }: ModelRequest, limits: ModelLimits): string {
  const inWords: ModelMessage[] = limits.schema
    ? [{ role: "system", content: `Answer with one JSON object of this JSON schema: ${JSON.stringify(schema)}` }]
    : [];
  return JSON.stringify({
    model,
    messages: [...inWords, ...messages],
    ...(limits.maxTokens ? { max_completion_tokens: maxTokens } : { max_tokens: maxTokens }),
    ...(limits.temperature ? {} : { temperature: 0 }),
    ...(limits.schema
      ? {}
      : { response_format: { type: "json_schema", json_schema: { name: "answer", strict: true, schema } } }),
  });
}

/** What a model does not take after it refused a request with 400; null when that is about nothing else. */
export function addLimit(limits: ModelLimits, body: string): ModelLimits | null {
  const { words } = readModelError(body);
  if (!limits.temperature && /temperature/i.test(words)) return { ...limits, temperature: true };
  if (!limits.schema && /schema|response_format/i.test(words)) return { ...limits, schema: true };
  if (!limits.maxTokens && /max_tokens/i.test(words)) return { ...limits, maxTokens: true };
  return null;
}
