import type { FoundCall, FoundTask } from "./findings.js";
import type { OpenedByDelivery } from "./ledger.js";

/** Failure codes of calls whose request may have arrived. */
const MAYBE_MADE: ReadonlySet<string | null> = new Set([
  ...["outcome-unknown", "timeout", "unreachable", "throttled"],
  ...["server-error", "rejected", "unsuccessful", "errored"],
]);

/** Checks the promises about deliveries: each accepted delivery is processed exactly once. */
export function* checkDeliveries(
  deliveries: readonly OpenedByDelivery[],
  tasks: readonly FoundTask[],
): Generator<string> {
  const titles = tasks.map(({ title }) => title);
  for (const { key, title } of deliveries) {
    const times = titles.filter((one) => one === title).length;
    if (times === 0) yield `lost: delivery ${key} was taken and opened no task`;
    if (times > 1) yield `twice: delivery ${key} opened ${times} tasks`;
  }
}

/**
 * Checks the promises about calls. No call is made twice, and the tracker received the right calls:
 *
 * - A call that is done arrived once.
 * - A call that failed with a code of {@link MAYBE_MADE} may have arrived.
 * - No other call arrived.
 */
export function* checkCalls(tasks: readonly FoundTask[], comments: readonly string[]): Generator<string> {
  const arrived = new Map<string, number>();
  for (const comment of comments) arrived.set(comment, (arrived.get(comment) ?? 0) + 1);
  for (const [comment, times] of arrived) if (times > 1) yield `twice: the call ${comment} was made ${times} times`;
  const calls = tasks.flatMap(({ runs }) => runs.flatMap(({ calls }) => calls ?? []));
  const known = new Set(calls.map(toText));
  for (const comment of arrived.keys()) if (!known.has(comment)) yield `left before the flush: the call ${comment}`;
  for (const call of calls) {
    const which = `call ${call.id} of ${call.tool} is ${call.state} ${call.code ?? ""}`.trim();
    const times = arrived.get(toText(call)) ?? 0;
    const isOver = ["done", "failed", "dismissed", "refused", "withdrawn"].includes(call.state);
    if (!isOver) yield `stuck: ${which}`;
    if (call.state === "done" && times === 0) yield `lost: ${which}, and nothing arrived`;
    const mayHave = call.state === "done" || (call.state === "failed" && MAYBE_MADE.has(call.code));
    if (isOver && !mayHave && times > 0) yield `${which}, and arrived all the same`;
  }
}

function toText({ inputs }: FoundCall): string {
  return String(inputs.text);
}
