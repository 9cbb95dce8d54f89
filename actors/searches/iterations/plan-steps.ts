import { toText, ZERO } from "../../fraction.js";
import type { Money } from "../../money.js";
import { decideNext, type NextStep, type SearchSnapshot } from "../rules/decide-next.js";

/** The steps that a search takes in one turn, and the search's state after these steps. */
export interface PlannedSteps {
  readonly steps: readonly NextStep[];
  readonly leads: "seeding" | "searching" | "holding-out" | "finished" | "stopped";
}

/** Maximum number of steps in one turn: enough for all of an iteration's candidates and all held-out replays. */
const MAX_STEPS = 60;

/**
 * Plans the steps of a search until the search waits or ends. `hasFailures` returns whether a reflection has failures
 * to investigate. A reflection without failures ends at once. The function has no side effects.
 */
export function planSteps(snapshot: SearchSnapshot, hasFailures: () => boolean): PlannedSteps {
  const steps: NextStep[] = [];
  let now = snapshot;
  for (let count = 0; count < MAX_STEPS; count++) {
    const step = decideNext(now);
    if (step.step === "wait") return { steps, leads: now.state };
    steps.push(step);
    if (step.step === "end") return { steps, leads: step.state };
    now = afterStep(now, step, hasFailures);
  }
  throw new Error("a search that takes steps without end");
}

/** Returns the snapshot after a step. */
function afterStep(
  snapshot: SearchSnapshot,
  step: Exclude<NextStep, { readonly step: "wait" | "end" }>,
  hasFailures: () => boolean,
): SearchSnapshot {
  switch (step.step) {
    case "replay":
      return {
        ...reserve(snapshot, step.ceiling),
        ...change(snapshot, step.candidateId, { replayState: "queued" }),
        state: "searching",
      };
    case "hold-out": {
      const queued = change(snapshot, step.candidateId, { heldOutReplayState: "queued" });
      return { ...reserve(snapshot, step.ceiling), ...queued, state: "holding-out", ending: step.ending };
    }
    case "propose":
    case "reflect": {
      const isOver = step.step === "reflect" && !hasFailures();
      const number = snapshot.iterations.length + 1;
      const iteration = { number, kind: step.step, admitted: 0 } as const;
      const iterations = [
        ...snapshot.iterations,
        { ...iteration, state: isOver ? "ended" : "wanted", outcome: isOver ? "no-failures" : null } as const,
      ];
      return { ...(isOver ? snapshot : reserve(snapshot, step.allotted)), state: "searching", iterations };
    }
  }
}

function reserve(snapshot: SearchSnapshot, allotted: Money): SearchSnapshot {
  const { spending } = snapshot;
  const underWay = [...spending.underWay, { allotted, counted: toText(ZERO) }];
  return { ...snapshot, spending: { ...spending, underWay } };
}

type Candidate = SearchSnapshot["candidates"][number];

function change(
  { candidates }: SearchSnapshot,
  candidateId: string,
  more: Partial<Pick<Candidate, "replayState" | "heldOutReplayState">>,
): Pick<SearchSnapshot, "candidates"> {
  return { candidates: candidates.map((each) => (each.candidateId === candidateId ? { ...each, ...more } : each)) };
}
