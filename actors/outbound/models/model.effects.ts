import { z } from "zod";
import type { Effect, EffectContext, PreparedRun } from "../../../runtime/cells/actor-type.js";
import { effect, withBeginMarked } from "../../../runtime/effects/effect-type.js";
import type { RunSignal } from "../../../runtime/effects/run-signal.js";
import type { EffectRequest } from "../../../runtime/turns/turn.js";
import { modelLane } from "../http/lanes.js";
import type { Model } from "./model.js";
import { findAnswerJson } from "./model-answer.js";
import { estimateModelUsage, type ModelSpent, ModelTally } from "./model-cost.js";
import type { JsonSchema, ModelMessage, ModelRequest } from "./model-request.js";
import { findModelPrice, toModelName } from "./model-settings.js";

/**
 * Asks the deployment's model a question. If the answer does not match the schema, asks the model to repair the answer.
 */
export const MODEL_EFFECT = effect<ModelQuestion, ModelOutcome>("model.ask");

/** A question to a model, as plain data. {@link askModel} creates one. */
export interface ModelQuestion {
  readonly messages: readonly ModelMessage[];
  /** The JSON schema of the answer, which is an object. */
  readonly schema: JsonSchema;
  /** The model to ask; null for the default model. */
  readonly model: string | null;
  /** Maximum length of the answer, in tokens. */
  readonly maxTokens: number;
}

/**
 * The result of a question. `spent` is the cost of this attempt; the caller adds up all attempts. Reasons may be shown
 * to people: they contain no key, and nothing of an answer except an error code.
 */
export type ModelOutcome =
  /** `value` matches the schema. `model` is the model that was asked. */
  | { readonly state: "answered"; readonly value: unknown; readonly model: string; readonly spent: ModelSpent }
  /** The model is unavailable now; `continueAsking` says when to ask again. */
  | {
      readonly state: "waiting";
      readonly reason: string;
      readonly retryAtMs: number | null;
      readonly spent: ModelSpent;
    }
  /** A process was killed and may have sent the question. Its answer is lost and its cost is estimated. Ask again. */
  | { readonly state: "interrupted"; readonly spent: ModelSpent }
  /** There is no answer, and asking again would not help. */
  | {
      readonly state: "failed";
      readonly code: "not-set-up" | "refused" | "unreadable";
      readonly reason: string;
      readonly spent: ModelSpent;
    };

/** Maximum number of repairs of an answer that does not match the schema. */
const MAX_REPAIRS = 2;
/** Maximum lengths, in characters, of the unusable answer and of its errors in a repair request. */
const MAX_SHOWN_ANSWER = 20_000;
const MAX_SHOWN_FAULTS = 2_000;
/** Maximum total length of a question's texts, in characters. */
const MAX_QUESTION_CHARACTERS = 1_000_000;
/** Approximate memory of a prepared question besides its texts, in bytes. */
const QUESTION_OVERHEAD_BYTES = 16 * 1024;

export interface AskModelOptions {
  /** The effect's id. */
  readonly id: string;
  /** The model to ask; null for the default model. */
  readonly model: string | null;
  /** Maximum length of the answer, in tokens. */
  readonly maxTokens: number;
}

/**
 * Creates the effect request for `turn.start`. `schema` describes an object and may use only what JSON Schema supports.
 * Pass the outcome to `continueAsking`. A question is stored until it is answered, so a caller with many questions asks
 * only some at a time.
 */
export function askModel(
  messages: readonly ModelMessage[],
  schema: z.ZodType,
  { id, model, maxTokens }: AskModelOptions,
): EffectRequest {
  const length = messages.reduce((sum, { content }) => sum + content.length, 0);
  if (length > MAX_QUESTION_CHARACTERS) throw new Error(`a question of ${length} characters is too long`);
  return MODEL_EFFECT.request(id, { messages, schema: toJsonSchema(schema), model, maxTokens });
}

function toJsonSchema(schema: z.ZodType): JsonSchema {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema);
  return json;
}

/**
 * Creates the effect, which never rejects. `model` is null if no model is configured. The effect does not wait for an
 * unavailable model: it reports `waiting`, and the caller sets a durable timer. Calls `asked` with each result.
 */
export function modelEffect(model: Model | null, asked: (outcome: ModelOutcome) => void = () => undefined): Effect {
  return withBeginMarked(
    MODEL_EFFECT.implementPrepared((question, context) => {
      const run = prepareQuestion(model, question, context);
      const begin = async (signal: RunSignal) => {
        const outcome = await run.begin(signal);
        asked(outcome);
        return outcome;
      };
      return { ...run, begin };
    }),
  );
}

function prepareQuestion(
  model: Model | null,
  question: ModelQuestion,
  { mayHaveBegun }: EffectContext,
): PreparedRun<ModelOutcome> {
  if (model === null) return { place: null, begin: async () => NOT_SET_UP };
  const name = toModelName(model.settings, question.model);
  const tally = () => new ModelTally(findModelPrice(model.settings, name));
  if (mayHaveBegun) {
    const lost = tally();
    lost.count(null, estimateModelUsage(question.messages, question.maxTokens));
    return { place: null, begin: async () => ({ state: "interrupted", spent: lost.spent }) };
  }
  const characters = question.messages.reduce((sum, { content }) => sum + content.length, 0);
  return {
    place: { lane: modelLane, target: "model", bytes: characters + QUESTION_OVERHEAD_BYTES },
    begin: (signal) => converse({ model, request: { ...question, model: name }, tally: tally() }, signal),
  };
}

const NOT_SET_UP: ModelOutcome = {
  state: "failed",
  code: "not-set-up",
  reason: "no model is configured",
  spent: { calls: 0, cost: null, isEstimate: false },
};

interface Conversation {
  readonly model: Model;
  readonly request: ModelRequest;
  readonly tally: ModelTally;
}

/** Asks the question. If the answer is unusable, asks again in the same conversation and says what is wrong. */
async function converse({ model, request, tally }: Conversation, signal: RunSignal): Promise<ModelOutcome> {
  // The stored question contains only a JSON schema, so convert this schema back to a Zod schema. Zod calls the
  // conversion experimental, so the caller parses the answer again.
  const schema = z.fromJSONSchema(request.schema);
  let { messages } = request;
  for (let repairs = 0; ; repairs++) {
    const estimate = estimateModelUsage(messages, request.maxTokens);
    const reply = await model.complete({ ...request, messages }, signal);
    if (reply.kind === "refused") return { state: "failed", code: "refused", reason: reply.reason, spent: tally.spent };
    if (reply.kind === "unavailable") {
      if (reply.mayCost) tally.count(null, estimate);
      const { reason, retryAtMs } = reply;
      return { state: "waiting", reason, retryAtMs, spent: tally.spent };
    }
    tally.count(reply.usage, estimate);
    const parsed = schema.safeParse(findAnswerJson(reply.text));
    if (parsed.success) {
      return { state: "answered", value: parsed.data, model: request.model, spent: tally.spent };
    }
    if (repairs === MAX_REPAIRS) {
      model.noteUnreadable();
      const reason = "the model's answers did not have the required form";
      return { state: "failed", code: "unreadable", reason, spent: tally.spent };
    }
    messages = [...messages, ...repair(reply, parsed.error)];
  }
}

/** Returns the unusable answer, and a message that says what is wrong with it. */
function repair(
  { text, isCut }: { readonly text: string; readonly isCut: boolean },
  error: z.ZodError,
): readonly ModelMessage[] {
  const faults = isCut ? "It was cut off. Give a shorter answer." : z.prettifyError(error).slice(0, MAX_SHOWN_FAULTS);
  return [
    { role: "assistant", content: text === "" ? "(no answer)" : text.slice(0, MAX_SHOWN_ANSWER) },
    {
      role: "user",
      content: `This answer cannot be used.\n${faults}\nAnswer again with the JSON object and nothing else.`,
    },
  ];
}
