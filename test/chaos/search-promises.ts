import type { AgentStart } from "./ledger.js";
import type { FoundReplay } from "./replay-promises.js";

/** The compared fields of a search, as the service reports it. */
export interface FoundSearch {
  readonly state: string;
  readonly ending: string | null;
  readonly proposed: number;
  readonly budget: { readonly repeats: number };
  readonly split: { readonly searched: readonly unknown[]; readonly heldOut: readonly unknown[] };
  readonly iterations: readonly { readonly state: string; readonly proposed: readonly string[] }[];
  readonly seed: FoundCandidate;
  readonly candidates: readonly FoundCandidate[];
}

interface FoundCandidate {
  readonly name: string;
  readonly replayId: string | null;
  readonly replayState: string | null;
  readonly heldOutReplayId: string | null;
  readonly heldOutReplayState: string | null;
}

/** What other sources report about a search: its replays and the started agents. */
export interface AroundSearch {
  /** The search's replays, by id. */
  readonly replays: ReadonlyMap<string, FoundReplay>;
  /** The started agents, of copies and of iterations. */
  readonly starts: readonly AgentStart[];
}

/** Returns the broken promises of a search after kills; empty if all hold. The search must have ended. */
export function listBrokenSearch(search: FoundSearch, around: AroundSearch): readonly string[] {
  return [...checkEnd(search), ...checkReplays(search, around), ...checkAgents(around)];
}

/** Checks that the search ended and that nothing in it is in progress. */
function* checkEnd({ state, ending, proposed, iterations, candidates }: FoundSearch): Generator<string> {
  if (state !== "finished") yield `the search is ${state}`;
  if (ending === null) yield "the search has no ending";
  for (const { state: its } of iterations) {
    if (its !== "ended" && its !== "failed") yield `stuck: an iteration is ${its}`;
  }
  const admitted = iterations.flatMap((iteration) => iteration.proposed);
  if (new Set(admitted).size !== admitted.length) yield "twice: a candidate was admitted";
  if (proposed !== admitted.length || candidates.length !== admitted.length)
    yield `${proposed} proposed, ${admitted.length} admitted, ${candidates.length} candidates`;
}

/** Checks that each replay of the search has ended and contains every copy of its runs once. */
function* checkReplays({ seed, candidates, split, budget }: FoundSearch, { replays }: AroundSearch): Generator<string> {
  const { searched, heldOut } = split;
  const expected = [
    { name: "seed", id: seed.replayId, runs: searched.length + heldOut.length },
    ...candidates.map(({ name, replayId: id }) => ({ name, id, runs: searched.length })),
    ...candidates.map(({ name, heldOutReplayId: id }) => ({ name, id, runs: heldOut.length })),
  ];
  for (const { name, id, runs } of expected) {
    if (id === null) continue;
    const replay = replays.get(id);
    if (replay === undefined) yield `lost: a replay of ${name}`;
    else yield* checkReplay(name, replay, runs * budget.repeats);
  }
}

function* checkReplay(name: string, { state, entries }: FoundReplay, copies: number): Generator<string> {
  if (state === "queued" || state === "running") yield `stuck: a replay of ${name} is ${state}`;
  if (entries.length !== copies) yield `a replay of ${name} has ${entries.length} copies instead of ${copies}`;
  const names = entries.map(({ originalRunId, repeat }) => `${originalRunId} ${repeat}`);
  if (new Set(names).size !== names.length) yield `twice: a copy of ${name}`;
  for (const { result, state: its } of entries) {
    if (state === "finished" && result === null) yield `stuck: a copy of ${name} is ${its}`;
  }
}

/** Checks that no run had more than one agent. */
function* checkAgents({ starts }: AroundSearch): Generator<string> {
  const seen = new Set<string>();
  for (const { runId } of starts) {
    if (seen.has(runId)) yield `twice: agents of run ${runId}`;
    seen.add(runId);
  }
}
