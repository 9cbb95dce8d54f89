import { toText, ZERO } from "../fraction.js";
import type { Money } from "../money.js";
import { decideNext, type NextStep, type SearchPicture } from "./rules/decide-next.js";

/** What a search does in one turn, and the state in which that leaves it. */
export interface PlannedSteps {
  readonly steps: readonly NextStep[];
  readonly leads: "seeding" | "searching" | "holding-out" | "finished" | "stopped";
}

/** Steps that one turn takes at most: all candidates that an iteration proposes, and those held out. */
const MAX_STEPS = 60;

/**
 * The steps of a search until it waits or ends. `hasFailures` says whether there is anything for a reflection to look
 * into: else it ends at once. Pure.
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

/** The picture once a step is taken. */
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
