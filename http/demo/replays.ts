import type { Client, Schema } from "../client/entry.js";
import { BETTER_PROMPT, type Configured, workStation } from "./configuration.js";
import { line } from "./progress.js";
import { until } from "./until.js";

/**
 * In this part, the demo replays a run that review sent back because its note was not in the index. Under the live
 * prompt, the agent forgets to list the note again. Under a better prompt, the agent lists the note, and the judge
 * recognizes the difference.
 */

const FORGOTTEN = "Fencing tokens";
/** A candidate whose agents list the note. */
export const BETTER = {
  name: "Names the index",
  station: { from: "live", prompt: BETTER_PROMPT },
} as const;
const CEILING = { amount: 1, currency: "USD" };
/**
 * Number of replays. They replay the better candidate, the live config, and the live config with an agent that knows
 * the accepted change.
 */
const REPLAYS = 3;
const WITH_ANSWER =
  "the live config again, with the accepted change as the answer, to measure the largest possible gain:";

/** Replays the run and prints the results; returns the set's id, or null if the results are unexpected. */
export async function showReplays(client: Client, configured: Configured, signal: AbortSignal): Promise<string | null> {
  const { teamId, lineId } = configured;
  const setId = await openSet(client, configured);
  line("demo", "");
  line("demo", `replay: the run of "${FORGOTTEN}" that review sent back, with a prompt that names the index:`);
  const candidate = await client.post("/api/resources/lines/{lineId}/stations/{stationKey}/replay-candidates", {
    path: { lineId, stationKey: workStation.key },
    body: BETTER,
  });
  const set = { teamId, setId };
  await client.post("/api/teams/{teamId}/replay-sets/{setId}/replays", {
    path: set,
    body: { candidate: candidate.id, ceiling: CEILING },
  });
  const list = async () =>
    (await client.get("/api/teams/{teamId}/replay-sets/{setId}/replays", { path: set })).items.toReversed();
  const areOver = async () => {
    const replays = await list();
    if (replays.length === REPLAYS && replays.every(isOver)) return null;
    const settled = replays.reduce((sum, { progress }) => sum + progress.settled, 0);
    const ended = replays.filter(isOver).length;
    return `replays: ${settled} of ${REPLAYS} runs ended, ${ended} of ${REPLAYS} results compared`;
  };
  await until("the replays", areOver, signal);
  const read = ({ id }: { readonly id: string }) =>
    client.get("/api/teams/{teamId}/replays/{replayId}", { path: { teamId, replayId: id } });
  const replays = await Promise.all((await list()).map(read));
  for (const replay of replays) show(replay);
  const better = replays.find(({ candidate: { kind } }) => kind === "proposed");
  return better !== undefined && showGain(better) ? setId : null;
}

/** Opens a set with the run that forgot the index; returns its id. */
async function openSet(client: Client, { teamId, lineId, stationId }: Configured): Promise<string> {
  const station = { teamId, lineId, stationId };
  const past = await client.get("/api/teams/{teamId}/lines/{lineId}/stations/{stationId}/replayable-runs", {
    path: station,
  });
  const run = past.items.find(({ title, outcome }) => title === FORGOTTEN && outcome === "sent-back");
  if (run === undefined) throw new Error(`no run of "${FORGOTTEN}" was sent back`);
  const set = await client.post("/api/teams/{teamId}/lines/{lineId}/stations/{stationId}/replay-sets", {
    path: station,
    body: { name: "Sent back by review" },
  });
  await client.post("/api/teams/{teamId}/replay-sets/{setId}/entries", {
    path: { teamId, setId: set.id },
    body: { runId: run.runId },
  });
  return set.id;
}

/** Whether the replay has ended and has been compared with its baseline. */
function isOver({
  state,
  pairsAgainstBaseline: pairs,
}: Pick<Schema<"Replay">, "state" | "pairsAgainstBaseline">): boolean {
  return state === "finished" && (pairs === null || pairs.wins + pairs.losses + pairs.ties > 0);
}

function show({ candidate, totals, entries }: Schema<"Replay">): void {
  if (candidate.kind === "with-answer") line("demo", WITH_ANSWER);
  const { scored, spent } = totals;
  const succeeded = entries.filter(({ result }) => result === "succeeded").length;
  const reason = entries[0]?.judge.reasons[0]?.text ?? "";
  const cost = `${spent.amount} ${spent.currency}`;
  line("replay", `${candidate.name}: ${succeeded} of ${scored} succeeded, for ${cost}. Judge: ${reason}`);
}

function showGain({ againstBaseline, pairsAgainstBaseline: pairs }: Schema<"Replay">): boolean {
  if (againstBaseline === null || pairs === null) return false;
  const { gain, verdict, few } = againstBaseline;
  const summary = few ? `${verdict}, but one task is too few to be sure` : verdict;
  line(
    "demo",
    `gain of ${BETTER.name} over the live config: ${gain.toFixed(2)} (${summary}); side by side: ${pairs.wins} win`,
  );
  return gain === 1 && verdict === "better" && pairs.wins === 1;
}
