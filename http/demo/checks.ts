import type { Client } from "./client.js";
import { type Configured, workStation } from "./configuration.js";
import { BETTER } from "./replays.js";
import { line } from "./show.js";
import { until } from "./until.js";

/** Checks a pull request that plans the better prompt, as CI does. */

interface Check {
  readonly verdict: string;
  readonly tasks: number;
  readonly regressions: readonly unknown[];
  readonly gain: { readonly gain: number } | null;
}

const PULL_REQUEST = 7;

/** Checks the change with the set and prints the verdict; returns whether it is as expected. */
export async function showCheck(
  client: Client,
  { teamId, lineId }: Configured,
  setId: string,
  signal: AbortSignal,
): Promise<boolean> {
  const team = `/api/teams/${teamId}`;
  await client.post(`${team}/replay-sets/${setId}/guards-changes`, undefined);
  const { body: started } = await client.post(`${team}/replay-checks`, {
    lineId,
    stationKey: workStation.key,
    station: BETTER.station,
    reference: { pullRequest: PULL_REQUEST },
  });
  const read = () => client.get<Check>(`${team}/replay-checks/${started.id}`);
  const isOver = async () => ((await read()).verdict === "running" ? "it is running" : null);
  await until("the check of the planned change was not over", isOver, signal);
  const { verdict, tasks, regressions, gain } = await read();
  line(
    "check",
    `pull request #${PULL_REQUEST} plans that prompt: ${verdict}, ${regressions.length} of ${tasks} tasks regressed`,
  );
  return verdict === "passed" && gain?.gain === 1;
}
