import { isRefusal } from "../../actors/refusal.js";
import { problemsOf } from "../../http/openapi/problems.js";
import { type Answer, type Outcome, type Route, successOf } from "../../http/route.js";

/**
 * How an outcome differs from what its route declares, in a sentence, or null: a status or problem that is not
 * declared, a body that its schema does not take (one field too many included), a header that nobody was told of.
 */
export function differenceFrom(route: Route, outcome: Outcome): string | null {
  const name = `${route.method} ${route.path}`;
  if (isRefusal(outcome) || "refused" in outcome) {
    const { refused } = outcome;
    // A bug shows itself by its own test; that a route may have one is declared for all.
    return problemsOf(route).includes(refused) ? null : `${name} refuses with ${refused}, which it does not declare`;
  }
  return answerDifference(route, outcome, name);
}

function answerDifference(route: Route, answer: Answer, name: string): string | null {
  const declared = route.answers[answer.status];
  if (declared === undefined) return `${name} answers ${answer.status}, which it does not declare`;
  const { body, text, headers } = successOf(declared);
  const unknown = Object.keys(answer.headers ?? {}).find((header) => headers?.[header] === undefined);
  if (unknown !== undefined) return `${name} sends the header ${unknown}, which it does not declare`;
  if (text !== undefined) {
    return answer.text?.type.startsWith(text) === true ? null : `${name} answers no ${text}, as it declares`;
  }
  if (body === null) {
    return answer.body === undefined && answer.text === undefined ? null : `${name} has a body but declares none`;
  }
  // Made while it is sent; the test that reads it holds it against the schema.
  if (answer.stream !== undefined) return null;
  const parsed = body.safeParse(answer.body === undefined ? undefined : JSON.parse(JSON.stringify(answer.body)));
  return parsed.success ? null : `${name} answers a body that is not as declared: ${parsed.error.message}`;
}
