import { add, compare, decimal } from "../../../../actors/fraction.js";
import { endState } from "../../../../actors/searches/rules/ending.js";
import type { SimulatedSearch, World } from "./simulated-search.js";

/** Returns the promises that an ended search broke. A search must keep its promises even if parts of it failed. */
export function brokenPromises({
  search,
  world,
}: {
  readonly search: SimulatedSearch;
  readonly world: World;
}): readonly string[] {
  const { ending, state, candidates, iterations, best, spent, overrun } = search;
  const { budget } = world;
  const heldOut = candidates.filter(({ heldOutReplayState }) => heldOutReplayState !== null);
  const promises: Readonly<Record<string, boolean>> = {
    "the ending has its state": endState(ending) === state,
    "it spends its ceiling and what parts overran": compare(spent, add(decimal(budget.ceiling.amount), overrun)) <= 0,
    "it has its iterations": iterations.length <= budget.iterations,
    "it reflects once": iterations.filter(({ kind }) => kind === "reflect").length <= 1,
    "it holds out three": heldOut.length <= 3,
    "it holds out what finished": heldOut.every(({ replayState, seed }) => replayState === "finished" && !seed),
    "the best is the seed or was held out": best === null || best.seed || best.heldOutReplayState === "finished",
    "without a finished seed there is no best": (best === null) === (candidates[0]?.replayState !== "finished"),
    "iterations ended, unless it was stopped":
      state === "stopped" || iterations.every((each) => each.state === "ended" || each.state === "failed"),
    "replays ended, unless it was stopped":
      state === "stopped" ||
      candidates.every((each) => each.replayState !== "running" && each.heldOutReplayState !== "running"),
    "what was admitted is replayed while there is money":
      state === "stopped" || ending === "ceiling" || candidates.every(({ replayState }) => replayState !== null),
  };
  return Object.keys(promises).filter((promise) => !promises[promise]);
}
