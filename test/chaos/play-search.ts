import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { askDoctor } from "../processes/doctor.js";
import { createChance } from "../simulation/chance.js";
import { kill, openSet, readStarts, runOriginals, untilSo } from "./play-replay.js";
import type { FoundReplay } from "./replay-promises.js";
import { type ReplayWorld, toId } from "./replay-world.js";
import { type FoundSearch, listBrokenSearch } from "./search-promises.js";

/** The size of the search, and the number of kills during it. */
export interface SearchPlan {
  readonly runs: number;
  readonly iterations: number;
  readonly kills: number;
}

const PROMPTS = ["Look twice.", "Read everything first.", "Write less.", "Ask nobody."];

/**
 * Searches a set while the service, the runners and the agents are killed with SIGKILL. Then runs the doctor and
 * compares the service's records with the promises. Returns the broken promises.
 */
export async function playSearch(
  world: ReplayWorld,
  { runs, iterations, kills }: SearchPlan,
  seed: number,
): Promise<readonly string[]> {
  const { client, service, teamId, line, ledger } = world;
  const runIds = await runOriginals(world, runs);
  const setId = await openSet(world, runIds);
  teachAgent(world);
  const before = readStarts(world).length;
  const budget = {
    iterations,
    perIteration: 2,
    concurrency: 8,
    repeats: 2,
    ceiling: { amount: 1_000, currency: "EUR" },
  };
  const asked = { setId, budget, agent: { harness: "command" }, objective: "cost" };
  const team = `/api/teams/${teamId}`;
  const searches = `${team}/lines/${line.id}/stations/${line.stationId}/searches`;
  const path = `${team}/searches/${toId(await client.post(searches, asked, "search"))}`;
  const read = async () => (await client.get(path)) as unknown as FoundSearch;
  await kill(world, kills, createChance(seed));
  const isDone = await untilSo(async () => ["finished", "stopped"].includes((await read()).state));
  await service.end("SIGKILL");
  const doctor = await askDoctor(service.dataFolder);
  await service.start();
  const search = await read();
  const replays = new Map<string, FoundReplay>();
  for (const { replayId, heldOutReplayId } of [search.seed, ...search.candidates]) {
    for (const id of [replayId, heldOutReplayId]) {
      if (id !== null) replays.set(id, (await client.get(`${team}/replays/${id}`)) as unknown as FoundReplay);
    }
  }
  console.log(`  the search ended ${search.ending}, with ${search.proposed} candidates, ${replays.size} replays`);
  return [
    ...(isDone ? [] : [`stuck: the search is ${search.state}`]),
    ...doctor.map((found) => `doctor: ${found}`),
    ...listBrokenSearch(search, { replays, starts: readStarts(world).slice(before) }),
    ...ledger.complaints,
  ];
}

/** Extends the agent: in a search, it proposes {@link PROMPTS}. */
function teachAgent({ folder, startsFile }: ReplayWorld): void {
  const file = join(folder, "agent.sh");
  const proposer = fileURLToPath(new URL("../../http/demo/proposer.js", import.meta.url));
  const prompts = PROMPTS.map((prompt) => `"${prompt}"`).join(" ");
  const proposing = `
if [ -n "$SIGNALBOX_SEARCH" ]; then
  echo "$$ $SIGNALBOX_RUN search" >> ${startsFile}
  exec node ${proposer} ${prompts}
fi`;
  writeFileSync(file, `${proposing}\n${readFileSync(file, "utf8")}`);
}
