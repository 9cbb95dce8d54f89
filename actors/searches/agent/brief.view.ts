import { decimal, fromText, subtract } from "../../fraction.js";
import { toAmount } from "../../money.js";
import { searchBudgets } from "../../replays/budget/search-budget.table.js";
import { firstBytes } from "../../replays/figures/excerpt.js";
import { findParents } from "../rules/parents.js";
import { type Contender, searchFrontier } from "../rules/ranking.js";
import { toBlock } from "../search/search.js";
import type { AgentContext, ShownCandidate } from "./agent-context.js";
import { findScores, shownBlock } from "./candidate-file.view.js";
import { folderName } from "./file-name.js";
import { fitJson } from "./fit.js";

/** Maximum number of parent configs to name: those that are best at the most tasks. */
const MAX_PARENTS = 10;
/**
 * Maximum size of a cause's evidence, and of a cause's suggestion, in bytes. `fitJson` reduces this size if the file is
 * too large.
 */
const CAUSE_BYTES = 4 * 1024;

/** Writes `brief.json`: the agent's assignment for the iteration, with the data for it. */
export function briefFile(context: AgentContext): string {
  const { search, iteration, candidates, places } = context;
  const { kind, number, reflection } = iteration;
  const { objective, minGain } = search;
  const findName = (id: string) => candidates.find(({ candidateId }) => candidateId === id)?.name ?? null;
  const { frontier, parents, tasks } = toLineage(context);
  const best = (id: string) =>
    tasks.filter(({ candidateIds }) => candidateIds.includes(id)).map(({ taskId }) => taskId);
  const causes = context.earlier.flatMap((before) => before.reflection?.causes ?? []);
  return fitJson((limit) => ({
    kind,
    iteration: number,
    left: toLeft(context),
    objective,
    minGain,
    ...shownBlock("live", toBlock(context.live.config, context.live.block), limit),
    candidates: candidates.map(findScores),
    frontier: frontier.map(findName),
    parents: parents.slice(0, MAX_PARENTS).map((id) => ({ name: findName(id), bestAt: best(id).map(folderName) })),
    searchedTasks: [...places.keys()].map((taskId) => ({ taskId, folder: `runs/${folderName(taskId)}` })),
    causes: causes.map(({ taskId, cause, evidence, suggestion }) => ({
      taskId,
      cause,
      evidence: firstBytes(evidence, limit(CAUSE_BYTES)),
      suggestion: suggestion === null ? null : firstBytes(suggestion, limit(CAUSE_BYTES)),
    })),
    ...(reflection === null
      ? {}
      : {
          standing: findName(reflection.standing),
          tasks: reflection.tasks.map(({ taskId }) => ({ taskId, folder: `runs/${folderName(taskId)}` })),
        }),
    detailed: toDetailed(context).map(({ name }) => name),
  }));
}

/** Maximum number of candidates whose copies are shown individually. The live config comes first. */
const MAX_DETAILED = 6;

/**
 * Lists the candidates whose copies are shown individually, at most {@link MAX_DETAILED}, the seed first. For a
 * reflection, these are the seed and the candidate whose failures the agent investigates. For other iterations, these
 * are the seed, the parents and the frontier.
 */
export function toDetailed(context: AgentContext): readonly ShownCandidate[] {
  const { candidates, iteration } = context;
  const { frontier, parents } = toLineage(context);
  const { reflection } = iteration;
  const ids = reflection === null ? [...parents, ...frontier] : [reflection.standing];
  const chosen = candidates.filter(({ seed, candidateId }) => seed || ids.includes(candidateId));
  const rank = ({ seed, candidateId }: ShownCandidate) => (seed ? -1 : ids.indexOf(candidateId));
  return [...chosen].sort((left, right) => rank(left) - rank(right)).slice(0, MAX_DETAILED);
}

/**
 * Returns the ids of the candidates on the frontier, the ids of the parents, and for each task the ids of the best
 * candidates (`tasks`).
 */
function toLineage({ candidates, search: { objective } }: AgentContext) {
  const contenders = candidates.map(toContender);
  const { parents, tasks } = findParents(contenders, objective);
  return { frontier: searchFrontier(contenders, objective), parents: parents.map((one) => one.candidateId), tasks };
}

/** Returns the candidate without held-out figures, because these must not affect the frontier or the parents. */
function toContender({ candidateId, seed, replayEnded, searched }: ShownCandidate): Contender {
  return { candidateId, seed, replayState: replayEnded, searched, heldOut: null };
}

function toLeft({ reading, workspaceId, search, iteration }: AgentContext) {
  const { iterations, perIteration, ceiling } = search.budget;
  const counted = searchBudgets.get(reading, workspaceId, search.id)?.counted ?? null;
  const left = counted === null ? null : subtract(decimal(ceiling.amount), fromText(counted));
  return {
    candidates: iteration.kind === "propose" ? perIteration - iteration.proposed.length : 0,
    iterations: Math.max(0, iterations - iteration.number),
    money: left === null ? null : { amount: Math.max(0, toAmount(left)), currency: ceiling.currency },
  };
}
