import { z } from "zod";
import { parseDoubles as parseJson } from "../http/json-answer.js";
import { readErrorStatus, toMembers } from "./model-error.js";

/** Maximum size of an answer in bytes, including the host's metadata. A longer answer is cut and cannot be parsed. */
export const MAX_MODEL_ANSWER_BYTES = 512 * 1024;

/** The tokens of one call. */
export interface ModelUsage {
  readonly in: number;
  readonly out: number;
}

/** A model's completion. Missing or malformed parts are empty. */
export interface Completion {
  readonly text: string;
  /** Whether the model ran out of tokens, or the answer exceeds the size limit. */
  readonly isCut: boolean;
  /** Null if the host does not report it. */
  readonly usage: ModelUsage | null;
}

/** The body of a successful answer: a completion, or an error instead. */
export type ModelAnswer =
  | ({ readonly kind: "completion" } & Completion)
  /** `status` is the HTTP status that corresponds to the error's code; null if no status does. */
  | { readonly kind: "error"; readonly status: number | null };

const tokens = z.int().min(0).max(1_000_000_000);
const usageSchema = z.object({ usage: z.object({ prompt_tokens: tokens, completion_tokens: tokens }) });
const textParts = z.array(z.object({ type: z.string(), text: z.string().optional() }));
const contentSchema = z.union([z.string(), textParts]);
const listSchema = z.object({ choices: z.array(z.unknown()).min(1) });

/**
 * Finish reasons for an answer that the host aborted. Any other reason, such as `content_filter`, comes from the model.
 */
const BROKEN_OFF = /error|abort|cancel|timeout|insufficient/i;
const NO_TOKENS_LEFT = /^(length|max_tokens)$/i;

/**
 * Reads the body of a successful answer. Some gateways report an error of the model's host in such a body: as `error`,
 * without `choices`, or as the choice's `finish_reason`. Such an error costs nothing, whatever usage it reports. An
 * answer above the size limit counts as a completion that was cut.
 */
export function readAnswer(body: string): ModelAnswer {
  const json = parseJson(body);
  if (json === undefined && Buffer.byteLength(body) >= MAX_MODEL_ANSWER_BYTES) {
    return { kind: "completion", text: "", isCut: true, usage: null };
  }
  const [choice] = listSchema.safeParse(json).data?.choices ?? [];
  const { message, finish_reason: finish, error: ownError } = toMembers(choice);
  const { error } = toMembers(json);
  const hasEnd = typeof finish === "string" && finish !== "";
  const isBrokenOff = hasEnd && BROKEN_OFF.test(finish);
  const hasAnswered = hasEnd || Object.keys(toMembers(message)).length > 0;
  if (isError(error) || isError(ownError) || isBrokenOff || !hasAnswered) {
    return { kind: "error", status: readErrorStatus(listErrors(json, ownError)) };
  }
  const used = usageSchema.safeParse(json);
  const usage = used.success ? { in: used.data.usage.prompt_tokens, out: used.data.usage.completion_tokens } : null;
  const content = contentSchema.safeParse(toMembers(message).content).data ?? "";
  const text = typeof content === "string" ? content : content.map((part) => part.text ?? "").join("");
  return { kind: "completion", text, isCut: hasEnd && NO_TOKENS_LEFT.test(finish), usage };
}

/** Whether an `error` member contains an error. Some hosts send an empty `error` with a good answer. */
function isError(error: unknown): boolean {
  if (typeof error === "object" && error !== null) return Object.values(error).some(isError);
  return typeof error === "string" ? error !== "" : error === true || (typeof error === "number" && error !== 0);
}

/** Returns the objects in an answer that may describe the error, innermost first. */
function listErrors(json: unknown, ownError: unknown): readonly unknown[] {
  // Some hosts send a list with one answer, or a list of errors.
  const outer: unknown = Array.isArray(json) ? json[0] : json;
  const { error, errors } = toMembers(outer);
  return [ownError, error, ...(Array.isArray(errors) ? errors : [errors]), outer];
}

/**
 * Finds the JSON in a model's answer: bare, in a code block, or after the model's reasoning. Undefined if there is
 * none.
 */
export function findAnswerJson(text: string): unknown {
  const bare = parseJson(text);
  if (bare !== undefined) return bare;
  const answer = text.slice(text.lastIndexOf("</think>") + 1);
  const [from, to] = [answer.indexOf("{"), answer.lastIndexOf("}")];
  return from === -1 || to < from ? undefined : parseJson(answer.slice(from, to + 1));
}
