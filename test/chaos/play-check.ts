import { setTimeout as pause } from "node:timers/promises";
import { askDoctor } from "../processes/doctor.js";
import { createChance } from "../simulation/chance.js";
import { type AroundCheck, type CheckedCopy, type FoundCheck, listBrokenCheck } from "./check-promises.js";
import { kill, untilSo } from "./play-replay.js";
import { plannedStation, type ReplayWorld, toId } from "./replay-world.js";

const LOOK_MS = 250;
type Found = Readonly<Record<string, unknown>>;

/**
 * Checks a planned change with the replayed set while processes are killed with SIGKILL. Then runs the doctor and
 * compares the service's records with the promises. Returns the broken promises.
 */
export async function playCheck(world: ReplayWorld, kills: number, seed: number): Promise<readonly string[]> {
  const { client, service, teamId, line, ledger } = world;
  const team = `/api/teams/${teamId}`;
  const [set] = await client.list<{ readonly id: string }>(`${team}/replay-sets`);
  const setPath = `${team}/replay-sets/${set?.id}`;
  await client.postAgain(`${setPath}/guards-changes`);
  const asked = { lineId: line.id, stationKey: "work", station: plannedStation, reference: { pullRequest: 1 } };
  const path = `${team}/replay-checks/${toId(await client.post(`${team}/replay-checks`, asked, "check"))}`;
  const read = async () =>
    (await client.get(path)) as unknown as FoundCheck & Record<"replayId" | "baselineReplayId", string>;
  const course = followVerdict(async () => (await read()).verdict);
  await kill(world, kills, createChance(seed));
  const { replayId, baselineReplayId } = await read();
  const readReplay = async (id: string) => (await client.get(`${team}/replays/${id}`)) as Found;
  const isDone = await untilSo(
    async () => (await readReplay(replayId)).state === "finished" && (await read()).verdict !== "running",
  );
  const verdicts = await course.end();
  await service.end("SIGKILL");
  const doctor = await askDoctor(service.dataFolder);
  await service.start();
  const around: AroundCheck = {
    candidate: (await readReplay(replayId)).entries as readonly CheckedCopy[],
    baseline: (await readReplay(baselineReplayId)).entries as readonly CheckedCopy[],
    verdicts,
    listed: (await client.list<{ readonly id: string }>(`${setPath}/replay-checks`)).map(({ id }) => id),
  };
  return [
    ...(isDone ? [] : [`stuck: the check is ${(await read()).verdict}`]),
    ...doctor.map((found) => `doctor: ${found}`),
    ...listBrokenCheck(await read(), around),
    ...ledger.complaints,
  ];
}

/** Polls the verdict until stopped. */
function followVerdict(read: () => Promise<string>) {
  const verdicts: string[] = [];
  let isEnded = false;
  const following = (async () => {
    for (; !isEnded; await pause(LOOK_MS)) verdicts.push(await read());
  })();
  return {
    end: async () => {
      isEnded = true;
      await following;
      return verdicts;
    },
  };
}
