import { z } from "zod";
import { parseDoubles as parseJson } from "./json-answer.js";
import { readErrorStatus, toMembers } from "./model-error.js";

/** Longest answer read, in bytes, with whatever a host says about it; a longer one is cut, and so unreadable. */
export const MAX_MODEL_ANSWER_BYTES = 512 * 1024;

/** Tokens of one call. */
export interface ModelUsage {
  readonly in: number;
  readonly out: number;
}

/** A model's completion. Missing or malformed parts are empty. */
export interface Completion {
  readonly text: string;
  /** Whether the model had no tokens left to finish it. */
  readonly isCut: boolean;
  /** Null when the host does not report it. */
  readonly usage: ModelUsage | null;
}

/** The body of a successful answer: a completion, or an error in its place. */
export type ModelAnswer =
  | ({ readonly kind: "completion" } & Completion)
  /** `status` is the HTTP status that the error's code stands for; null when it has none. */
  | { readonly kind: "error"; readonly status: number | null };

const tokens = z.int().min(0).max(1_000_000_000);
const usageSchema = z.object({ usage: z.object({ prompt_tokens: tokens, completion_tokens: tokens }) });
const textParts = z.array(z.object({ type: z.string(), text: z.string().optional() }));
const contentSchema = z.union([z.string(), textParts]);
const listSchema = z.object({ choices: z.array(z.unknown()).min(1) });

/** Ends of an answer that the host broke off. Any other end, such as `content_filter`, is the model's. */
const BROKEN_OFF = /error|abort|cancel|timeout|insufficient/i;
const NO_TOKENS_LEFT = /^(length|max_tokens)$/i;

/**
 * Reads the body of a successful answer. Gateways report errors of the model's host there: as `error`, without
 * `choices`, or as the choice's `finish_reason`. An answer that is longer than what is read is a completion that was cut.
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
    return { kind: "error", status: readErrorStatus(errorsOf(json, ownError)) };
  }
  const used = usageSchema.safeParse(json);
  const usage = used.success ? { in: used.data.usage.prompt_tokens, out: used.data.usage.completion_tokens } : null;
  const content = contentSchema.safeParse(toMembers(message).content).data ?? "";
  const text = typeof content === "string" ? content : content.map((part) => part.text ?? "").join("");
  return { kind: "completion", text, isCut: hasEnd && NO_TOKENS_LEFT.test(finish), usage };
}

/** Whether a member `error` holds an error: some hosts send it empty beside an answer. */
function isError(error: unknown): boolean {
  if (typeof error === "object" && error !== null) return Object.keys(error).length > 0;
  return typeof error === "string" ? error !== "" : typeof error === "number" && error !== 0;
}

/** The objects of an answer that may say what went wrong, the closest one first. */
function errorsOf(json: unknown, ownError: unknown): readonly unknown[] {
  // Some hosts send a list of one answer, or a list of errors.
  const outer: unknown = Array.isArray(json) ? json[0] : json;
  const { error, errors } = toMembers(outer);
  return [ownError, error, ...(Array.isArray(errors) ? errors : [errors]), outer];
}

/**
 * The value of a model's answer: its JSON, bare, in a code block, or after whatever the model thought aloud. Undefined
 * when it has none.
 */
export function readJsonOf(text: string): unknown {
  const bare = parseJson(text);
  if (bare !== undefined) return bare;
  const answer = text.slice(text.lastIndexOf("</think>") + 1);
  const [from, to] = [answer.indexOf("{"), answer.lastIndexOf("}")];
  return from === -1 || to < from ? undefined : parseJson(answer.slice(from, to + 1));
}
