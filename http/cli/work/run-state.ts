import type { Schema } from "../../client/entry.js";

type Run = Schema<"RunInAList">;

/** Describes the state of a run, or how it ended, in a few words. */
export function describeRunState(
  run: Pick<Run, "state" | "outcome" | "reason" | "failure" | "ending" | "waiting">,
): string {
  const { state, outcome, reason, failure, ending, waiting } = run;
  if (state !== "ended" || outcome === null) return waiting === null ? state : `${state}: ${waiting.reason}`;
  const why = failure?.message ?? reason;
  if (why !== null) return `${outcome}: ${why}`;
  switch (ending?.kind) {
    case "handover":
      return `${outcome}, handed over to ${ending.to}`;
    case "ask":
      return `${outcome}, with a question`;
    default:
      return outcome;
  }
}
