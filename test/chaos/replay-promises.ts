import { SPENT } from "./agent.js";
import type { AgentStart } from "./ledger.js";

/** The compared fields of a replay, as the service reports it. */
export interface FoundReplay {
  readonly state: string;
  readonly repeats: number;
  readonly totals: {
    readonly entries: number;
    readonly settled: number;
    readonly scored: number;
    readonly spent: FoundMoney;
  };
  readonly entries: readonly FoundCopy[];
}

export interface FoundCopy {
  readonly runId: string | null;
  readonly originalRunId: string;
  readonly repeat: number;
  readonly state: string;
  readonly result: string | null;
  readonly why: { readonly code: string; readonly text: string } | null;
  readonly spent: FoundMoney | null;
  readonly judge: FoundVerdict;
  readonly secondJudge: FoundVerdict | null;
}

interface FoundMoney {
  readonly amount: number;
  readonly currency: string;
}

interface FoundVerdict {
  readonly reasons: readonly { readonly text: string }[];
}

/**
 * What other sources report about a replay: its set, the started agents, the service's list of copies, and the model.
 */
export interface Outside {
  /** The runs in the set. */
  readonly runIds: readonly string[];
  readonly repeats: number;
  readonly starts: readonly AgentStart[];
  /**
   * By the id of each run for which an agent was started, the run's copy as the service reports it. Null if the service
   * knows no such copy.
   */
  readonly copyOf: ReadonlyMap<string, { readonly originalRunId: string; readonly repeat: number } | null>;
  /** The distinct reasons that the model gave. */
  readonly given: ReadonlySet<string>;
}

/** Maximum number of attempts per copy: a copy may lose its runner twice. */
const MOST_ATTEMPTS = 3;

/** Returns the broken promises of a replay after kills; empty if all hold. The replay must have ended and be judged. */
export function listBrokenReplay(replay: FoundReplay, outside: Outside): readonly string[] {
  return [
    ...checkCopies(replay, outside),
    ...checkAttempts(replay, outside),
    ...checkSpending(replay),
    ...checkVerdicts(replay, outside),
  ];
}

/** Checks that every copy of every run exists once and is settled. */
function* checkCopies({ state, totals, entries }: FoundReplay, { runIds, repeats }: Outside): Generator<string> {
  if (state !== "finished") yield `the replay is ${state}`;
  const wanted = runIds.flatMap((run) => Array.from({ length: repeats }, (_, at) => `${run} ${at + 1}`));
  const found = entries.map(toName);
  for (const name of wanted) if (!found.includes(name)) yield `lost: copy ${name}`;
  if (new Set(found).size < found.length)
    yield `twice: ${found.length} copies, ${new Set(found).size} of them different`;
  if (found.length > wanted.length) yield `${found.length} copies instead of ${wanted.length}`;
  if (totals.entries !== found.length || totals.settled !== found.length)
    yield `totals say ${totals.settled} of ${totals.entries} settled, of ${found.length}`;
  const scored = entries.filter(({ result }) => result === "succeeded" || result === "failed").length;
  if (totals.scored !== scored) yield `totals say ${totals.scored} scored, of ${scored}`;
  for (const copy of entries) if (copy.result === null) yield `stuck: copy ${toName(copy)} is ${copy.state}`;
}

/**
 * Checks the agents: no run had two agents, and no copy had more than {@link MOST_ATTEMPTS} attempts. A copy whose
 * result came from an agent must have had an agent.
 */
function* checkAttempts({ entries }: FoundReplay, { starts, copyOf }: Outside): Generator<string> {
  const attempts = new Map<string, number>();
  const seen = new Set<string>();
  for (const { runId } of starts) {
    if (seen.has(runId)) yield `twice: agents of run ${runId}`;
    seen.add(runId);
    const copy = copyOf.get(runId) ?? null;
    if (copy !== null) attempts.set(toName(copy), (attempts.get(toName(copy)) ?? 0) + 1);
  }
  for (const [name, count] of attempts) if (count > MOST_ATTEMPTS) yield `copy ${name} had ${count} agents`;
  for (const copy of entries) {
    const isRun = copy.result === "succeeded" || copy.why?.code === "judge-failed";
    if (isRun && (copy.runId === null || !seen.has(copy.runId))) yield `copy ${toName(copy)} had no agent`;
  }
}

/**
 * Checks that the total is the sum of what the copies spent. A copy that succeeded must have spent at least the amount
 * that its agent reported.
 */
function* checkSpending({ entries, totals }: FoundReplay): Generator<string> {
  const cents = (money: FoundMoney | null) => Math.round((money?.amount ?? 0) * 1e9);
  const sum = entries.reduce((total, { spent }) => total + cents(spent), 0);
  if (cents(totals.spent) !== sum) yield `the total is ${totals.spent.amount}, its copies spent ${sum / 1e9}`;
  for (const copy of entries) {
    if (copy.result === "succeeded" && cents(copy.spent) < SPENT * 1e9)
      yield `lost: copy ${toName(copy)} spent ${copy.spent?.amount}`;
  }
}

/** Checks the verdicts: the model gave each of them, none occurs twice, and each copy that succeeded has one. */
function* checkVerdicts({ entries }: FoundReplay, { given }: Outside): Generator<string> {
  const told = entries.flatMap((copy) => [copy.judge, copy.secondJudge].flatMap((verdict) => verdict?.reasons ?? []));
  const texts = told.map(({ text }) => text);
  if (new Set(texts).size < texts.length) yield `twice: ${texts.length - new Set(texts).size} answers of the model`;
  for (const text of texts) if (!given.has(text)) yield `a verdict says "${text}", which the model did not`;
  for (const copy of entries) {
    if (copy.result === "succeeded" && copy.judge.reasons.length !== 1)
      yield `lost: the verdict of copy ${toName(copy)}`;
  }
}

function toName({ originalRunId, repeat }: Pick<FoundCopy, "originalRunId" | "repeat">): string {
  return `${originalRunId} ${repeat}`;
}
