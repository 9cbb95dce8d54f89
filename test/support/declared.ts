import { readJson, writeJson } from "../../actors/exact-json.js";
import { isRefusal } from "../../actors/refusal.js";
import { listProblems } from "../../http/openapi/operation.js";
import { type Answer, type Outcome, type Route, toAnswers, toSuccess } from "../../http/wire/route.js";

/**
 * Describes how an outcome differs from its route's declaration; null if it does not. These are differences:
 *
 * - a status, problem or header that the route does not declare
 * - a body that does not match its schema, for example a body with an additional field
 */
export function differenceFrom(route: Route, outcome: Outcome): string | null {
  const name = `${route.method} ${route.path}`;
  if (isRefusal(outcome) || "refused" in outcome) {
    const { refused } = outcome;
    // A bug can cause a 500 on any route, so all routes declare the status 500.
    return listProblems(route).includes(refused) ? null : `${name} refuses with ${refused}, which it does not declare`;
  }
  return answerDifference(route, outcome, name);
}

function answerDifference(route: Route, answer: Answer, name: string): string | null {
  const declared = toAnswers(route)[answer.status];
  if (declared === undefined) return `${name} answers ${answer.status}, which it does not declare`;
  const { body, text: type, headers } = toSuccess(declared);
  const unknown = Object.keys(answer.headers ?? {}).find((header) => headers?.[header] === undefined);
  if (unknown !== undefined) return `${name} sends the header ${unknown}, which it does not declare`;
  const sent = answer.text?.type ?? answer.stream?.type ?? answer.live?.type;
  if (type !== undefined && (body === null || sent !== undefined)) {
    return sent?.startsWith(type) === true ? null : `${name} answers no ${type}, as it declares`;
  }
  if (body === null) {
    return answer.body === undefined && answer.text === undefined ? null : `${name} has a body but declares none`;
  }
  // The body is a stream. The test that reads the stream compares the body with the schema.
  if (answer.stream !== undefined) return null;
  const isCompressed = answer.headers?.["content-encoding"] !== undefined;
  const text =
    (isCompressed ? undefined : answer.json) ?? (answer.body === undefined ? undefined : writeJson(answer.body));
  const parsed = body.safeParse(text === undefined ? undefined : readJson(Buffer.from(text).toString()));
  return parsed.success ? null : `${name} answers a body that is not as declared: ${parsed.error.message}`;
}
