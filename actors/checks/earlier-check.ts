import { createHash } from "node:crypto";
import type { Reading } from "../../storage/store.js";
import { canonicalJson } from "../resources/canonical-json.js";
import type { ReplayCheckRow } from "./check.js";
import { replayChecks } from "./check.table.js";

/** A change of a station, by how runs go with it and without it. */
type ChangeOf = Pick<ReplayCheckRow, "stationId" | "candidateRunning" | "liveRunning">;

/** What has to be equal besides, so that an earlier check of a change holds for it still. */
export type CheckedWith = Pick<ReplayCheckRow, "setId" | "runsDigest" | "threshold" | "scoring" | "repeats">;

/** The checks of a change, newest first. */
export function listEarlier(reading: Reading, workspaceId: string, of: ChangeOf): readonly ReplayCheckRow[] {
  const { stationId, candidateRunning, liveRunning } = of;
  return replayChecks.all(reading, workspaceId, { stationId, candidateRunning, liveRunning });
}

/** The newest that holds still: one that runs, or that was decided either way, of the same runs by the same terms. */
export function findReusable(earlier: readonly ReplayCheckRow[], wanted: CheckedWith): ReplayCheckRow | undefined {
  const terms = termsOf(wanted);
  return earlier.find((check) => check.verdict !== "undecided" && termsOf(check) === terms);
}

function termsOf({ setId, runsDigest, threshold, scoring, repeats }: CheckedWith): string {
  return canonicalJson({ setId, runsDigest, threshold, scoring, repeats });
}

/** A digest of the runs of a set, whatever their order. */
export function digestRuns(runIds: readonly string[]): string {
  return createHash("sha256")
    .update([...runIds].sort().join(" "))
    .digest("hex");
}
