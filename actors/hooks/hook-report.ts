import type { Report } from "../../runtime/turns/turn.js";
import type { HookFailureCode } from "./delivery/failure-codes.js";
import type { HookOccurrence } from "./hook-occurrence.js";

/** The name of the report about an ended request. Its `outcome` is `delivered` or a failure code. */
export const HOOK_ATTEMPTED = "hook.attempted";
/** All outcomes of a request, for the metrics. */
export const hookOutcomes = [
  "delivered",
  "unreachable",
  "timeout",
  "throttled",
  "server-error",
  "tool-failed",
  "errored",
  "rejected",
  "not-allowed",
  "unwritable",
  "broken",
  "loop",
  "superseded",
] as const satisfies readonly ("delivered" | HookFailureCode)[];

const HOOK_ENDED = "hook.ended";

/** The ids of a hook occurrence. */
interface Fired {
  readonly hookOccurrenceId: string;
  readonly hookId: string;
  readonly teamId: string;
  /** The event's name. */
  readonly on: string;
}

/** Reports one ended request of a hook. Only the metrics use this report. */
export function reportAttempt(code: HookFailureCode | null, tookMs: number): Report {
  return { name: HOOK_ATTEMPTED, line: null, details: { outcome: code ?? "delivered", seconds: tookMs / 1_000 } };
}

/** Reports a hook occurrence that refused the step of its `before` event. */
export function reportRefusal(fired: Fired): Report {
  return { name: HOOK_ENDED, line: { level: "info", message: "hook refused" }, details: { ...fired } };
}

/** Reports a hook occurrence that failed for good. */
export function reportGivenUp(
  fired: Fired,
  {
    code,
    attempts,
    status,
  }: Pick<HookOccurrence, "code"> & { readonly attempts: number; readonly status: number | null },
): Report {
  const details = { code, attempts, status, ...fired };
  return { name: HOOK_ENDED, line: { level: "warn", message: "hook given up" }, details };
}
