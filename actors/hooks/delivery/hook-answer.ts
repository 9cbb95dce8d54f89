import { findRefusal } from "../../integrations/requests/find-refusal.js";
import type { OutboundAnswer } from "../../outbound/http/http-exchange.js";
import { parseJson, whyJsonIsUnread } from "../../outbound/http/json-answer.js";
import { cutBytes } from "../../tables/cut-bytes.js";
import type { DeliveryResult } from "./delivery-result.js";
import { toFailureCode } from "./failure-codes.js";

/** Maximum size of a step's stored output, in bytes. */
export const MAX_OUTPUT_BYTES = 16 * 1024;

/**
 * Evaluates a receiver's response. On an `after` event every 2xx is a success. On a `before` event the step fails if
 * the service could not read a complete 2xx response: the unread part may contain a refusal.
 */
export function readHookAnswer(
  { status, body: text, unread, doubt }: OutboundAnswer,
  isBefore: boolean,
): Pick<DeliveryResult, "body" | "code" | "reason" | "refuses"> {
  const body = cutBytes(text, MAX_OUTPUT_BYTES);
  const code = toFailureCode(status);
  if (code !== null) return { body, code, reason: `it responded ${status}` };
  if (!isBefore) return { body, code: null, reason: null };
  const json = unread === undefined ? parseJson(text) : undefined;
  const problem = unread?.reason ?? (json === undefined ? (whyJsonIsUnread(text) ?? doubt) : undefined);
  if (problem !== undefined)
    return { body, code: "errored", reason: `it responded ${status}, and its answer cannot be read: ${problem}` };
  const refuses = findRefusal(json);
  return { body, code: null, reason: null, ...(refuses === null ? {} : { refuses }) };
}
