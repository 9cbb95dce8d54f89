import { toText, ZERO } from "../../fraction.js";
import type { Money } from "../../money.js";
import { decideNext, type NextStep, type SearchPicture } from "../rules/decide-next.js";

/** The steps of a search in one turn, and its state after them. */
export interface PlannedSteps {
  readonly steps: readonly NextStep[];
  readonly leads: "seeding" | "searching" | "holding-out" | "finished" | "stopped";
}

/** Maximum number of steps in one turn: enough for all of an iteration's candidates and all held-out replays. */
const MAX_STEPS = 60;

/**
 * Plans the steps of a search until it waits or ends. `hasFailures` returns whether a reflection has failures to
 * investigate; without any, it ends at once. Pure.
 */
export function planSteps(picture: SearchPicture, hasFailures: () => boolean): PlannedSteps {
  const steps: NextStep[] = [];
  let now = picture;
  for (let count = 0; count < MAX_STEPS; count++) {
    const step = decideNext(now);
    if (step.step === "wait") return { steps, leads: now.state };
    steps.push(step);
    if (step.step === "end") return { steps, leads: step.state };
    now = afterStep(now, step, hasFailures);
  }
  throw new Error("a search that takes steps without end");
}

/** Returns the picture after a step. */
function afterStep(
  picture: SearchPicture,
  step: Exclude<NextStep, { readonly step: "wait" | "end" }>,
  hasFailures: () => boolean,
): SearchPicture {
  switch (step.step) {
    case "replay":
      return {
        ...reserve(picture, step.ceiling),
        ...change(picture, step.candidateId, { replayState: "queued" }),
        state: "searching",
      };
    case "hold-out": {
      const held = change(picture, step.candidateId, { heldOutReplayState: "queued" });
      return { ...reserve(picture, step.ceiling), ...held, state: "holding-out", ending: step.ending };
    }
    case "propose":
    case "reflect": {
      const isOver = step.step === "reflect" && !hasFailures();
      const number = picture.iterations.length + 1;
      const iteration = { number, kind: step.step, admitted: 0 } as const;
      const iterations = [
        ...picture.iterations,
        { ...iteration, state: isOver ? "ended" : "wanted", outcome: isOver ? "no-failures" : null } as const,
      ];
      return { ...(isOver ? picture : reserve(picture, step.allotted)), state: "searching", iterations };
    }
  }
}

function reserve(picture: SearchPicture, allotted: Money): SearchPicture {
  const { spending } = picture;
  const underWay = [...spending.underWay, { allotted, counted: toText(ZERO) }];
  return { ...picture, spending: { ...spending, underWay } };
}

type Pictured = SearchPicture["candidates"][number];

function change(
  { candidates }: SearchPicture,
  candidateId: string,
  more: Partial<Pick<Pictured, "replayState" | "heldOutReplayState">>,
): Pick<SearchPicture, "candidates"> {
  return { candidates: candidates.map((each) => (each.candidateId === candidateId ? { ...each, ...more } : each)) };
}
