import { writeJson } from "../../exact-json.js";
import { DYN } from "../../expressions/cel-types.js";
import { type Budget, createRawBudget, type Names } from "../../expressions/evaluate.js";
import { evaluateText } from "../../expressions/templates.js";
import { type Json, toText, toValue } from "../../expressions/values.js";
import type { Unread } from "../../outbound/http-exchange.js";
import { whyJsonIsUnread } from "../../outbound/json-answer.js";
import { cutText, toWellFormedJson } from "../../well-formed.js";
import { createJsonRoom, parseBounded } from "../bounded-json.js";
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

/** An answer as it came, as far as it was read. */
export interface Answer {
  readonly status: number;
  readonly method: string;
  readonly text: string;
  /** Why the text is not the whole answer; null when it is. */
  readonly unread: Unread | null;
  /** Why the text may not be what was sent; null when nothing is in doubt. */
  readonly doubt: string | null;
}

/** What is made of an answer; the rest of a result says how the request went. */
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

/** Longest cursor of a poll, in bytes. */
const MAX_CURSOR_BYTES = 4_096;

/** How an answer is read. */
export interface ReadingTerms {
  readonly found: FoundRequest;
  readonly input: Pick<IntegrationRequestInput, "block" | "after">;
  /** What the request's own expressions saw. */
  readonly names: Names;
  readonly mask: Mask;
}

/**
 * Reads an answer: whether it is a success, what it captures, and what follows. Nothing of it holds a secret: `connection`
 * reads `***` here, and so does what the answer repeats of it. Within the budget of one request.
 */
export function readAnswer(answer: Answer, { found, input, names, mask }: ReadingTerms): ReadAnswer {
  // Of a body that breaks off or does not decode, nothing is used; of one that is too large, its beginning.
  const text = answer.unread === null || answer.unread.kind === "size" ? mask.text(answer.text) : "";
  const { read: body, isJson } = toResponse(text);
  const partly = answer.unread?.reason ?? (isJson ? null : (whyJsonIsUnread(text) ?? answer.doubt));
  const response = mask.json(body);
  // Marks are made of captures too: those keep halves of surrogate pairs.
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
  const told = unread.length === 0 ? {} : { unread: cutText(unread.join("; "), MAX_UNREAD) };
  return { ...read, success: true, code: null, reason: null, ...follows, ...told };
}

/** Most that is told of what has no value, in characters. */
const MAX_UNREAD = 1_000;

/** What expressions may take, and where it is told that one has no value. */
interface Evaluation {
  readonly allowance: Budget;
  readonly unread: string[];
}

/** The value of an expression, null where it has none. */
function evaluate(place: string, expression: string, names: Names, { allowance, unread }: Evaluation): Json {
  const outcome = evaluateText(expression, names, allowance);
  if ("value" in outcome) return outcome.value;
  unread.push(`\`${place}\` has no value: ${outcome.error}`);
  return null;
}

/** Levels of lists and maps within each other that are read: what follows goes into each. */
const MAX_LEVELS = 200;

/**
 * The answer's body: parsed where it is JSON of so many levels and not too many values, else the text. An empty one counts
 * as null, and so do blanks alone.
 */
function toResponse(text: string): { readonly read: Json; readonly isJson: boolean } {
  const parsed = text.trim() === "" ? null : parseBounded(text, createJsonRoom(), MAX_LEVELS);
  return parsed === undefined ? { read: text, isJson: false } : { read: parsed as Json, isJson: true };
}

type Failure = Pick<IntegrationRequestResult, "code" | "reason">;

/** The failure that an answer means; null for a success. */
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
  const why = "error" in outcome ? `expect.success has no value: ${outcome.error}` : "expect.success does not hold";
  if (code !== null) return { code, reason: `it responded ${status}, and ${why}` };
  // A lost answer to a GET is asked for again. Anything else was done: asked again, it would be done twice.
  const isLost = unread !== null && unread.kind !== "size" && (method === "GET" || of.kind !== "action");
  const isUnusable = of.kind === "poll" && (unread !== null || (success === null && !of.isJson));
  if (isLost || (isUnusable && partly !== null)) return { code: "errored", reason: unreadable(status, partly ?? "") };
  if (success !== null && !holds) {
    const cause = unread === null ? why : `its answer cannot be read: ${unread.reason}`;
    return { code: "unsuccessful", reason: `it responded ${status}, and ${cause}` };
  }
  return isUnusable ? { code: "errored", reason: "it responded something other than JSON" } : null;
}

/** Why a success is none: its answer could not be read whole. */
export function unreadable(status: number, why: string): string {
  return `it responded ${status}, and its answer cannot be read: ${why}`;
}

/** The failure that a status means; null for 2xx. */
export function toStatusCode(status: number): IntegrationRequestCode | null {
  if (status >= 200 && status < 300) return null;
  if (status === 408 || status === 425 || status === 429) return "throttled";
  return status >= 500 ? "server-error" : "rejected";
}

/** The captures by name; null for what reads as nothing, and for what no longer fits. */
function evaluateCaptures(
  capture: Readonly<Record<string, string>>,
  names: Names,
  evaluation: Evaluation,
): Record<string, Json> {
  let room = MAX_RESPONSE_BYTES;
  const captured = Object.entries(capture).map(([name, expression]): [string, Json] => {
    const value = evaluate(`capture.${name}`, expression, names, evaluation);
    const bytes = Buffer.byteLength(writeJson(value));
    if (bytes > room) return [name, null];
    room -= bytes;
    return [name, value];
  });
  return Object.fromEntries(captured);
}

/** What follows from a success: a tool's output, a binding's marks, or a poll's body and next cursor. */
function follow(
  { found, input }: Pick<ReadingTerms, "found" | "input">,
  { text, response }: { readonly text: string; readonly response: Json },
  names: Names,
  evaluation: Evaluation,
): Pick<IntegrationRequestResult, "output" | "refuses" | "marks" | "body" | "cursor" | "cursorProblem"> {
  if (input.after?.kind === "tool") {
    // Without an expression the output is the answer itself.
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
 * JSON text of at most {@link MAX_RESPONSE_BYTES}, well-formed: what is longer is a string that begins as it does. Null for
 * null.
 */
export function toBoundedJson(given: Json): string | null {
  const json = toWellFormedJson(given) as Json;
  if (json === null) return null;
  const whole = writeJson(json);
  if (Buffer.byteLength(whole) <= MAX_RESPONSE_BYTES) return whole;
  const text = typeof json === "string" ? json : whole;
  // A quarter of it surely fits, whatever has to be escaped in JSON; most texts fit nearly whole.
  for (const share of [0.9, 0.5, 0.16]) {
    const cut = writeJson(`${cutText(text, Math.floor(MAX_RESPONSE_BYTES * share))}…`);
    if (Buffer.byteLength(cut) <= MAX_RESPONSE_BYTES) return cut;
  }
  return null;
}
