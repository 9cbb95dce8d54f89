import type { AgentStart } from "./ledger.js";
import type { FoundReplay } from "./replay-promises.js";

/** A search as the service tells of it, as far as it is compared. */
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

/** What is known of a search outside of it. */
export interface AroundSearch {
  /** Its replays, by id. */
  readonly replays: ReadonlyMap<string, FoundReplay>;
  /** The agents that started, of copies and of iterations. */
  readonly starts: readonly AgentStart[];
}

/** What is broken of what a search promises, over any kills; nothing when all is kept. It has ended. */
export function listBrokenSearch(search: FoundSearch, around: AroundSearch): readonly string[] {
  return [...checkEnd(search), ...checkReplays(search, around), ...checkAgents(around)];
}

/** It ended, and nothing of it is under way. */
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

/** Each replay of it has ended, with every copy of the runs that it is of there once. */
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

/** Every run had one agent. */
function* checkAgents({ starts }: AroundSearch): Generator<string> {
  const seen = new Set<string>();
  for (const { runId } of starts) {
    if (seen.has(runId)) yield `twice: agents of run ${runId}`;
    seen.add(runId);
  }
}
