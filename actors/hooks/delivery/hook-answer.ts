import { findRefusal } from "../../integrations/requests/find-refusal.js";
import type { OutboundAnswer } from "../../outbound/http-exchange.js";
import { parseJson, whyJsonIsUnread } from "../../outbound/json-answer.js";
import { cutBytes } from "../../tables/cut-bytes.js";
import type { DeliveryResult } from "./delivery-result.js";
import { toFailureCode } from "./failure-codes.js";

/** Longest stored output of a step, in bytes. */
export const MAX_OUTPUT_BYTES = 16 * 1024;

/**
 * Reads what a receiver's answer means. On an after event, a 2xx is a delivery, whether its body can be read or not. On a
 * before event, the step fails if the body of a 2xx cannot be read completely: it may contain a refusal.
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
