import { writeJson } from "../../exact-json.js";
import { DYN } from "../../expressions/cel-types.js";
import { type Budget, createRawBudget, type Names } from "../../expressions/evaluate.js";
import { evaluateText } from "../../expressions/templates.js";
import { type Json, toText, toValue } from "../../expressions/values.js";
import type { Unread } from "../../outbound/http/http-exchange.js";
import { whyJsonIsUnread } from "../../outbound/http/json-answer.js";
import { cutText, toWellFormedJson } from "../../well-formed.js";
import { createJsonBudget, parseBounded } from "../bounded-json.js";
import { whyNoMark } from "../mark-value.js";
import { findRefusal } from "./find-refusal.js";
import type { FoundRequest } from "./find-request.js";
import {
  type IntegrationRequestCode,
  type IntegrationRequestInput,
  type IntegrationRequestResult,
  MAX_RESPONSE_BYTES,
  type RequestBlock,
} from "./integration-request.js";
import { MASK, type Mask } from "./mask.js";

/** A response to a request; the text is the part of the response that was read. */
export interface Answer {
  readonly status: number;
  readonly method: string;
  readonly text: string;
  /** The reason why the text is not the complete response; null if the text is complete. */
  readonly unread: Unread | null;
  /** The reason why the text may differ from the text that the host sent; null if there is none. */
  readonly doubt: string | null;
}

/**
 * The part of a request's result that is read from the response. The other parts of the result describe the request.
 */
export type ReadAnswer = Pick<
  IntegrationRequestResult,
  | "success"
  | "response"
  | "captures"
  | "output"
  | "marks"
  | "unread"
  | "partly"
  | "refuses"
  | "body"
  | "cursor"
  | "cursorProblem"
  | "code"
  | "reason"
>;

/** Maximum length of a poll's cursor, in bytes. */
const MAX_CURSOR_BYTES = 4_096;

/** The input for reading a response. */
export interface ReadingTerms {
  readonly found: FoundRequest;
  readonly input: Pick<IntegrationRequestInput, "block" | "after">;
  /** The names that the request's own expressions saw. */
  readonly names: Names;
  readonly mask: Mask;
}

/**
 * Reads a response: its success, its captures, and the output, marks or cursor. The result contains no secret:
 * expressions see `connection` as `***`, and `***` replaces every copy of a secret in the response. All expressions
 * share the budget of one request.
 */
export function readAnswer(answer: Answer, { found, input, names, mask }: ReadingTerms): ReadAnswer {
  // If the body is incomplete or cannot be decoded, use none of it. If the body is too large, use its beginning.
  const text = answer.unread === null || answer.unread.kind === "size" ? mask.text(answer.text) : "";
  const { read: body, isJson } = toResponse(text);
  const partly = answer.unread?.reason ?? (isJson ? null : (whyJsonIsUnread(text) ?? answer.doubt));
  const response = mask.json(body);
  // Use a budget that keeps unpaired surrogates in captures, because marks are derived from captures too.
  const allowance = createRawBudget();
  const seen: Names = {
    ...names,
    ...(names.connection === undefined ? {} : { connection: MASK }),
    response: toValue(response, DYN),
    status: answer.status,
  };
  const failure = findFailure({ ...answer, partly }, { found, isJson, kind: input.block.kind }, seen, allowance);
  const unread: string[] = partly === null ? [] : [`its answer cannot be read: ${partly}`];
  const captures = evaluateCaptures(found.capture, seen, { allowance, unread });
  const read = {
    response: toBoundedJson(response),
    captures: writeJson(captures),
    ...(partly === null ? {} : { partly }),
  };
  if (failure !== null) return { ...read, success: false, ...failure };
  const later: Names = { ...seen, capture: toValue(captures, DYN) };
  const follows = follow({ found, input }, { text, response }, later, { allowance, unread });
  const unreadNote = unread.length === 0 ? {} : { unread: cutText(unread.join("; "), MAX_UNREAD) };
  return { ...read, success: true, code: null, reason: null, ...follows, ...unreadNote };
}

/** Maximum length of the text about expressions without a value, in characters. */
const MAX_UNREAD = 1_000;

/** The budget for expressions, and the list that collects why expressions failed. */
interface Evaluation {
  readonly allowance: Budget;
  readonly unread: string[];
}

/** Evaluates an expression; null if it has no value. */
function evaluate(place: string, expression: string, names: Names, { allowance, unread }: Evaluation): Json {
  const outcome = evaluateText(expression, names, allowance);
  if ("value" in outcome) return outcome.value;
  unread.push(`\`${place}\` has no value: ${outcome.error}`);
  return null;
}

/** Maximum nesting depth of a parsed response. Later steps recurse into each level. */
const MAX_LEVELS = 200;

/**
 * Parses the response body as JSON. Returns the text itself if it is not JSON, or exceeds the limits of depth or number
 * of values. An empty or blank body is null.
 */
function toResponse(text: string): { readonly read: Json; readonly isJson: boolean } {
  const parsed = text.trim() === "" ? null : parseBounded(text, createJsonBudget(), MAX_LEVELS);
  return parsed === undefined ? { read: text, isJson: false } : { read: parsed as Json, isJson: true };
}

type Failure = Pick<IntegrationRequestResult, "code" | "reason">;

/** Returns the failure that a response indicates; null for a success. */
function findFailure(
  { status, method, unread, partly }: Answer & { readonly partly: string | null },
  of: { readonly found: FoundRequest; readonly isJson: boolean; readonly kind: RequestBlock["kind"] },
  names: Names,
  allowance: Budget,
): Failure | null {
  const { success } = of.found;
  const outcome = success === null ? { value: false } : evaluateText(success, names, allowance);
  const holds = "value" in outcome && outcome.value === true;
  const code = holds ? null : toStatusCode(status);
  if (code !== null && success === null) return { code, reason: `it responded ${status}` };
  const why = "error" in outcome ? `expect.success has no value: ${outcome.error}` : "expect.success is not true";
  if (code !== null) return { code, reason: `it responded ${status}, and ${why}` };
  // A request whose response was lost fails if it can be retried: a GET, a lookup or a poll. An action with another
  // method does not fail, because it has already run and a retry would run it twice.
  const isLost = unread !== null && unread.kind !== "size" && (method === "GET" || of.kind !== "action");
  const isUnusable = of.kind === "poll" && (unread !== null || (success === null && !of.isJson));
  if (isLost || (isUnusable && partly !== null)) return { code: "errored", reason: unreadable(status, partly ?? "") };
  if (success !== null && !holds) {
    const cause = unread === null ? why : `its answer cannot be read: ${unread.reason}`;
    return { code: "unsuccessful", reason: `it responded ${status}, and ${cause}` };
  }
  return isUnusable ? { code: "errored", reason: "its response is not JSON" } : null;
}

/** Returns the reason for a response that counts as failed because it could not be read completely. */
export function unreadable(status: number, why: string): string {
  return `it responded ${status}, and its answer cannot be read: ${why}`;
}

/** Returns the failure that a status indicates; null for 2xx. */
export function toStatusCode(status: number): IntegrationRequestCode | null {
  if (status >= 200 && status < 300) return null;
  if (status === 408 || status === 425 || status === 429) return "throttled";
  return status >= 500 ? "server-error" : "rejected";
}

/**
 * Evaluates the captures by name. A capture without a value is null, and so is a capture that exceeds the remaining
 * size limit.
 */
function evaluateCaptures(
  capture: Readonly<Record<string, string>>,
  names: Names,
  evaluation: Evaluation,
): Record<string, Json> {
  let remaining = MAX_RESPONSE_BYTES;
  const captured = Object.entries(capture).map(([name, expression]): [string, Json] => {
    const value = evaluate(`capture.${name}`, expression, names, evaluation);
    const bytes = Buffer.byteLength(writeJson(value));
    if (bytes > remaining) return [name, null];
    remaining -= bytes;
    return [name, value];
  });
  return Object.fromEntries(captured);
}

/** Evaluates the results of a success: a tool's output, a binding's marks, or a poll's body and next cursor. */
function follow(
  { found, input }: Pick<ReadingTerms, "found" | "input">,
  { text, response }: { readonly text: string; readonly response: Json },
  names: Names,
  evaluation: Evaluation,
): Pick<IntegrationRequestResult, "output" | "refuses" | "marks" | "body" | "cursor" | "cursorProblem"> {
  if (input.after?.kind === "tool") {
    // Without an expression, the output is the response itself.
    const output = found.output === null ? response : evaluate("output", found.output, names, evaluation);
    const refuses = findRefusal(output);
    return { output: toBoundedJson(output), ...(refuses === null ? {} : { refuses }) };
  }
  if (input.after?.kind === "binding") return { marks: evaluateMarks(found.marks, names, evaluation) };
  if (input.block.kind !== "poll") return {};
  const seen: Names = { body: names.response ?? null, cursor: names.cursor ?? null };
  return { body: text, ...evaluateCursor(found.cursor, seen, evaluation.allowance) };
}

function evaluateMarks(
  marks: Readonly<Record<string, string>>,
  names: Names,
  evaluation: Evaluation,
): Readonly<Record<string, string>> {
  const given = Object.entries(marks).flatMap(([kind, expression]): [string, string][] => {
    const found = toText(evaluate(`mark.${kind}`, expression, names, evaluation));
    const value = found.trim();
    const why = found === "" ? null : value === "" ? "it is blank" : whyNoMark(value);
    if (why !== null) evaluation.unread.push(`\`mark.${kind}\` has no value: ${why}`);
    return value === "" || why !== null ? [] : [[kind, value]];
  });
  return Object.fromEntries(given);
}

function evaluateCursor(
  expression: string | null,
  names: Names,
  allowance: Budget,
): Pick<IntegrationRequestResult, "cursor" | "cursorProblem"> {
  if (expression === null) return { cursor: null };
  const outcome = evaluateText(expression, names, allowance);
  if ("error" in outcome) return { cursor: null, cursorProblem: outcome.error };
  const { value } = outcome;
  if (value === null) return { cursor: null };
  if (typeof value === "object") return { cursor: null, cursorProblem: "it is a list or a map" };
  const cursor = toText(value).toWellFormed();
  if (Buffer.byteLength(cursor) <= MAX_CURSOR_BYTES) return { cursor };
  return { cursor: null, cursorProblem: `it is longer than ${MAX_CURSOR_BYTES} bytes` };
}

/**
 * Returns well-formed JSON text of at most {@link MAX_RESPONSE_BYTES}. A longer value becomes a string with the
 * beginning of its text. Returns null for null.
 */
export function toBoundedJson(given: Json): string | null {
  const json = toWellFormedJson(given) as Json;
  if (json === null) return null;
  const whole = writeJson(json);
  if (Buffer.byteLength(whole) <= MAX_RESPONSE_BYTES) return whole;
  const text = typeof json === "string" ? json : whole;
  // Try smaller shares until the text fits. The smallest share fits even if every character is escaped in JSON.
  for (const share of [0.9, 0.5, 0.16]) {
    const cut = writeJson(`${cutText(text, Math.floor(MAX_RESPONSE_BYTES * share))}…`);
    if (Buffer.byteLength(cut) <= MAX_RESPONSE_BYTES) return cut;
  }
  return null;
}
