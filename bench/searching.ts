import { toNumber } from "../actors/fraction.js";
import { findParents } from "../actors/searches/rules/parents.js";
import type { Copy, CopyResult } from "../actors/statistics/copy.js";
import { successGain } from "../actors/statistics/gain.js";
import {
  type SimulatedCandidate,
  Simulation,
  type TrueConfig,
  type World,
} from "../test/actors/searches/rules/simulated-search.js";
import { type Chance, createChance } from "../test/simulation/chance.js";
import type { Table } from "./support/table.js";

const SEARCHES = 40;
const TASKS = 50;
const REPEATS = 3;
const MIN_GAIN = 0.05;
const BUDGET = { iterations: 10, perIteration: 5, repeats: REPEATS, ceiling: { amount: 10_000, currency: "EUR" } };
/** The average cost of a replay run. Below it, how many times as much a run of the search agent costs. */
const COST = 0.1;
const AGENT_RUNS = 3;
/** Number of kinds of tasks. An edit of a config affects one kind. */
const KINDS = 5;
/**
 * A helpful edit adds this number to the success rates of its kind of tasks, up to a rate of 1. On the live config,
 * such an edit raises the mean rate of all tasks by about 0.08. Any other edit subtracts at most a tenth of this
 * number.
 */
const HELP = 0.6;

/** The simulated proposers. One edit in `helpsOnceIn` edits helps; null means that no edit helps. */
const PROPOSERS: readonly { readonly name: string; readonly helpsOnceIn: number | null }[] = [
  { name: "no edit helps", helpsOnceIn: null },
  { name: "one edit of 20 helps", helpsOnceIn: 20 },
  { name: "one edit of 5 helps", helpsOnceIn: 5 },
];

/** The result of one search, or of one random search. */
interface Outcome {
  /** The true gain of the picked config over the live one; 0 if the live one was picked. */
  readonly trueGain: number;
  /** Whether a config other than the live one was picked. */
  readonly isOther: boolean;
  /** The claimed gain; null if the search claims none. */
  readonly claimed: number | null;
  readonly candidates: number;
}

/**
 * Compares a search with a random search that has the same proposer and does not spend more. The random search edits
 * only the live config, and replays every candidate on the whole set. It has two variants:
 *
 * - The first variant considers all candidates that beat the live config, and picks the one with the highest success.
 * - The second variant considers only candidates whose gain over the live config is larger than chance explains.
 *
 * Searches are simulated from the rules and random numbers, without actors.
 */
export async function run(): Promise<Table> {
  const rows = PROPOSERS.flatMap(({ name, helpsOnceIn }) => {
    const all = Array.from({ length: SEARCHES }, (_, number) => compete(number, helpsOnceIn));
    return [
      toRow(
        name,
        "search",
        all.map(({ search }) => search),
      ),
      toRow(
        name,
        "random, the highest success",
        all.map(({ highest }) => highest),
      ),
      toRow(
        name,
        "random, the highest that reads better",
        all.map(({ verdict }) => verdict),
      ),
    ];
  });
  return {
    title: "Searches beside random ones that spend as much",
    note: `${SEARCHES} simulated searches of each, of 10 x 5 candidates over ${TASKS} tasks, ${REPEATS} copies.`,
    columns: [
      "proposer",
      "by",
      "candidates",
      "true gain of what is picked",
      "another config is picked",
      "claims a gain",
      "of these false",
      "claimed less true gain",
    ],
    rows,
  };
}

function toRow(proposer: string, by: string, outcomes: readonly Outcome[]): Table["rows"][number] {
  const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / Math.max(1, values.length);
  const claims = outcomes.filter(({ claimed }) => claimed !== null);
  const excess = mean(claims.map(({ claimed, trueGain }) => (claimed ?? 0) - trueGain));
  return [
    ...[proposer, by, mean(outcomes.map(({ candidates }) => candidates)).toFixed(0)],
    mean(outcomes.map(({ trueGain }) => trueGain)).toFixed(3),
    ...[outcomes.filter(({ isOther }) => isOther).length, claims.length],
    claims.filter(({ trueGain }) => trueGain <= 0).length,
    claims.length === 0 ? "" : excess.toFixed(3),
  ];
}

function compete(number: number, helpsOnceIn: number | null) {
  const chance = createChance(500 + number);
  const seed = { rates: Array.from({ length: TASKS }, (_, task) => (task + 0.5) / TASKS), costFactor: 1 };
  const edit = editor(chance, helpsOnceIn);
  const world: World = {
    setId: `set-${number}`,
    seed,
    budget: BUDGET,
    objective: "success",
    minGain: MIN_GAIN,
    propose: (shown) => Array.from({ length: BUDGET.perIteration }, () => edit(pickParent(chance, shown).config)),
  };
  const found = new Simulation(world, chance).run();
  const best = found.best ?? null;
  const search: Outcome = {
    trueGain: best === null ? 0 : trueGain(best.config, seed),
    isOther: best?.seed === false,
    claimed: best === null || best.seed || found.mark !== null ? null : (best.heldOut?.heldOutGain?.gain ?? null),
    candidates: found.candidates.length - 1,
  };
  return { search, ...searchAtRandom(chance, { seed, edit, budget: toNumber(found.spent) }) };
}

/** Returns a config with one more edit. */
type Edit = (config: TrueConfig) => TrueConfig;

function editor(chance: Chance, helpsOnceIn: number | null): Edit {
  return (config) => {
    const kind = chance.between(0, KINDS - 1);
    const helps = helpsOnceIn !== null && chance.onceIn(helpsOnceIn);
    const change = helps ? HELP : -(HELP / 10) * (chance.between(0, 100) / 100);
    const rates = config.rates.map((rate, task) =>
      task % KINDS === kind ? Math.min(1, Math.max(0, rate + change)) : rate,
    );
    return { ...config, rates };
  };
}

/** Picks a parent from the per-task frontier. A candidate that is best at many tasks is picked more often. */
function pickParent(chance: Chance, shown: readonly SimulatedCandidate[]): SimulatedCandidate {
  const tickets = findParents(shown, "success").parents.flatMap(({ candidateId, tasks }) =>
    Array.from({ length: tasks }, () => candidateId),
  );
  const picked = tickets.length === 0 ? "seed" : chance.pick(tickets);
  const parent = shown.find(({ candidateId }) => candidateId === picked);
  if (parent === undefined) throw new Error(`there is no candidate ${picked}`);
  return parent;
}

interface RandomTerms {
  readonly seed: TrueConfig;
  readonly edit: Edit;
  /** The budget of the random search: the amount that the compared search spent. */
  readonly budget: number;
}

function searchAtRandom(chance: Chance, { seed, edit, budget }: RandomTerms) {
  const [ofReplay, ofAgent] = [COST * TASKS * REPEATS, COST * AGENT_RUNS];
  const before = replay(chance, seed);
  const tried: { readonly config: TrueConfig; readonly score: number; readonly copies: readonly Copy[] }[] = [];
  let spent = ofReplay;
  while (spent + ofReplay <= budget) {
    if (tried.length % BUDGET.perIteration === 0) spent += ofAgent;
    const config = edit(seed);
    const copies = replay(chance, config);
    tried.push({ config, copies, score: toScore(copies) });
    spent += ofReplay;
  }
  const ranked = [...tried].sort((a, b) => b.score - a.score);
  const [highest, better] = [
    ranked.find(({ score }) => score > toScore(before)),
    ranked.find(({ copies }) => successGain(copies, before, MIN_GAIN)?.verdict === "better"),
  ];
  const toOutcome = (pick: (typeof ranked)[number] | undefined): Outcome => ({
    trueGain: pick === undefined ? 0 : trueGain(pick.config, seed),
    isOther: pick !== undefined,
    claimed: pick === undefined ? null : pick.score - toScore(before),
    candidates: tried.length,
  });
  return { highest: toOutcome(highest), verdict: toOutcome(better) };
}

function replay(chance: Chance, { rates }: TrueConfig): readonly Copy[] {
  return rates.flatMap((rate, task) =>
    Array.from({ length: REPEATS }, (_, index) => {
      const result: CopyResult = chance.between(1, 1_000_000) <= rate * 1_000_000 ? "succeeded" : "failed";
      return { taskId: `t${task}`, originalRunId: `r${task}`, repeat: index + 1, result };
    }),
  );
}

function toScore(copies: readonly Copy[]): number {
  return copies.filter(({ result }) => result === "succeeded").length / copies.length;
}

function trueGain(config: TrueConfig, seed: TrueConfig): number {
  const toSum = ({ rates }: TrueConfig) => rates.reduce((a, b) => a + b, 0);
  return (toSum(config) - toSum(seed)) / TASKS;
}
