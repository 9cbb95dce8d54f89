import { isDeepStrictEqual } from "node:util";
import t from "tap";
import type { SearchView } from "../../../actors/searches/reads/search-schemas.js";
import { searchStates } from "../../../actors/searches/reads/search-schemas.js";
import { searchTopicView } from "../../../actors/searches/reads/search-topic.view.js";
import { viewPictured } from "../../support/pictured-searches.js";
import { type SearchScript, SearchWorld } from "../../support/search-world.js";
import { workspaceId } from "../../support/work.js";

interface Followed {
  search: Record<string, unknown>;
  iterations: Record<string, unknown>[];
  candidates: Record<string, unknown>[];
  frontier: readonly string[];
}

/** Follows a search's stream, and applies its changes as `docs/streams.md` specifies. */
function follow(scene: SearchWorld): { readonly now: () => Followed; readonly longest: () => number } {
  const { runtime } = scene.world.harness;
  const subject = { workspaceId, id: scene.searchId };
  const shown = searchTopicView.view(runtime.reading, subject);
  let followed = structuredClone(shown) as Followed;
  let longest = 0;
  runtime.feed.listen(workspaceId, `search/${scene.searchId}`, ({ data }) => {
    const change = searchTopicView.change?.(runtime.reading, subject, data)[0]?.data;
    if (change === undefined) return;
    longest = Math.max(longest, JSON.stringify(change).length);
    followed = apply(followed, change as Record<string, unknown>);
  });
  return { now: () => followed, longest: () => longest };
}

function apply(followed: Followed, { type, ...change }: Record<string, unknown>): Followed {
  const { search, iterations, candidates } = followed;
  if (type === "search") return { ...followed, search: { ...search, ...Object(change.search) } };
  if (type === "spent") return { ...followed, search: { ...search, spent: change.spent } };
  if (type === "iteration")
    return { ...followed, iterations: putUnder("number", iterations, Object(change.iteration)) };
  if (type === "replay")
    return { ...followed, candidates: candidates.map((each) => moved(each, Object(change.replay))) };
  if (type !== "candidate") throw new Error(`a change of the type ${type}`);
  const frontier = change.frontier as readonly string[];
  return { ...followed, frontier, candidates: putUnder("candidateId", candidates, Object(change.candidate)) };
}

function moved(candidate: Record<string, unknown>, { id, state }: Record<string, unknown>) {
  const searched = candidate.replayId === id ? { replayState: state } : {};
  const heldOut = candidate.heldOutReplayId === id ? { heldOutReplayState: state } : {};
  return { ...candidate, ...searched, ...heldOut };
}

function putUnder(name: string, list: readonly Record<string, unknown>[], item: Record<string, unknown>) {
  const at = list.findIndex((each) => each[name] === item[name]);
  return at < 0 ? [...list, item] : list.with(at, item);
}

/** Returns the violated invariants of a search's view. */
function complaints({
  seed,
  candidates,
  frontier,
  split,
  spent,
  state,
  endedAt,
  best,
  bestBecause,
}: SearchView): string[] {
  const all = [seed, ...candidates];
  const onFrontier = all.filter((each) => each.onFrontier).map(({ candidateId }) => candidateId);
  const searched = new Set(split.searched.map(({ taskId }) => taskId));
  return [
    ...(frontier.includes(seed.candidateId) ? [] : ["the seed is not on the frontier"]),
    ...(onFrontier.length === frontier.length ? [] : ["the frontier differs from what candidates say"]),
    ...(split.heldOut.some(({ taskId }) => searched.has(taskId)) ? ["a task is searched and held out"] : []),
    ...all
      .filter((each) => each.onFrontier && !each.seed && each.replayState !== "finished")
      .map(({ name }) => `${name} is on the frontier before its replay has finished`),
    ...all
      .filter((each) => each.heldOutGain !== null && each.heldOutReplayState !== "finished")
      .map(({ name }) => `${name} has a gain on held-out runs that it did not finish`),
    ...(spent.currency === "EUR" ? [] : ["it spends another currency"]),
    ...((state === "finished" || state === "stopped") === (endedAt !== null)
      ? []
      : [`it is ${state} and ends ${endedAt}`]),
    ...(best === null || best.seed || best.heldOutScore !== null ? [] : ["the best was never held out"]),
    ...((best === null) === (bestBecause === null)
      ? []
      : ["it has a best without a reason, or a reason without a best"]),
    ...(best?.seed === bestBecause?.code.startsWith("no") ? [] : [`the best is ${best?.name}: ${bestBecause?.text}`]),
  ];
}

/**
 * Works on a search job by job, and reads it after each job. Returns the states seen, the violated invariants, and the
 * length of the longest change.
 */
async function readThrough(scene: SearchWorld, script: SearchScript) {
  const seen = new Set<string>();
  const wrong: string[] = [];
  const reader = follow(scene);
  const look = async () => {
    await scene.world.harness.advance();
    const rows = scene.world.harness.runtime.reading;
    const read = await viewPictured({ rows, search: scene.search() });
    seen.add(read.state);
    wrong.push(...complaints(read));
    const fresh = searchTopicView.view(rows, { workspaceId, id: scene.searchId });
    const isAsFresh = isDeepStrictEqual(fresh, reader.now());
    if (!isAsFresh) wrong.push(`${read.state}: what was followed is not what a fresh snapshot shows`);
  };
  for (let jobs = scene.world.jobs(); jobs.length > 0; jobs = scene.world.jobs()) {
    for (const job of jobs) {
      await scene.work(job, script);
      await look();
    }
  }
  return { seen, wrong, longest: reader.longest() };
}

t.test("in each of its states a search reads whole, and its stream leads to what a fresh snapshot shows", async (t) => {
  const scene = await SearchWorld.open({ runs: 6 });
  await scene.start();
  const { seen, wrong, longest } = await readThrough(scene, {
    copy: ({ candidate }) => ({ succeeds: candidate.startsWith("try") }),
  });
  t.same(wrong, []);
  t.same([...seen], searchStates.slice(0, 4));
  t.ok(longest < 4_096, "each message is short");
});

t.test("so does one that reflects, and one that is stopped", async (t) => {
  const scene = await SearchWorld.open({ runs: 6 });
  await scene.start({ budget: { ...budget, iterations: 4 } });
  const { wrong } = await readThrough(scene, { copy: () => ({ succeeds: false }) });
  t.same(wrong, []);
  const read = await viewPictured({ rows: scene.world.harness.runtime.reading, search: scene.search() });
  const [reflected] = read.iterations.filter(({ kind }) => kind === "reflect");
  t.match(reflected?.reflection, {
    standing: read.seed.candidateId,
    causes: [{ cause: "config" }],
    outcome: "went-on",
  });
  t.match(read.best, { seed: true, name: "seed" });

  const stopped = await SearchWorld.open({ runs: 6 });
  await stopped.start();
  const reader = follow(stopped);
  await stopped.stop();
  const rows = stopped.world.harness.runtime.reading;
  t.match(await viewPictured({ rows, search: stopped.search() }), { state: "stopped", ending: "stopped", best: null });
  t.same(reader.now(), searchTopicView.view(rows, { workspaceId, id: stopped.searchId }));
});

const budget = {
  iterations: 2,
  perIteration: 2,
  ceiling: { amount: 100, currency: "EUR" },
  concurrency: 4,
  repeats: 1,
};
