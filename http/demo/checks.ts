import type { Client } from "../client/entry.js";
import { type Configured, workStation } from "./configuration.js";
import { line } from "./progress.js";
import { BETTER } from "./replays.js";
import { until } from "./until.js";

/**
 * In this part, the demo plans the better prompt in a pull request, and checks that pull request like `signalbox check`
 * in CI.
 */

const PULL_REQUEST = 7;

/**
 * Checks the better prompt against the replay set and prints the verdict. Returns whether the check had the expected
 * verdict.
 */
export async function showCheck(
  client: Client,
  { teamId, lineId }: Configured,
  setId: string,
  signal: AbortSignal,
): Promise<boolean> {
  await client.post("/api/teams/{teamId}/replay-sets/{setId}/guards-changes", { path: { teamId, setId } });
  const started = await client.post("/api/teams/{teamId}/replay-checks", {
    path: { teamId },
    body: {
      lineId,
      stationKey: workStation.key,
      station: BETTER.station,
      reference: { pullRequest: PULL_REQUEST },
    },
  });
  const read = () =>
    client.get("/api/teams/{teamId}/replay-checks/{checkId}", { path: { teamId, checkId: started.id } });
  const isOver = async () => {
    const { verdict, compared, tasks } = await read();
    return verdict === "running" ? `check: ${compared} of ${tasks} tasks compared` : null;
  };
  await until("the check of the planned change", isOver, signal);
  const { verdict, tasks, regressions, gain } = await read();
  line(
    "check",
    `pull request #${PULL_REQUEST} plans that prompt: ${verdict}, ${regressions.length} of ${tasks} tasks regressed`,
  );
  return verdict === "passed" && gain?.gain === 1;
}
