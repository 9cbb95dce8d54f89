import type { ReplayCheckRow } from "../../actors/checks/check.js";
import { replayChecks } from "../../actors/checks/check.table.js";
import type { Store } from "../../storage/store.js";
import { memoryRows, withTurn } from "./turn.js";
import { lineId, teamId } from "./work.js";

/** Returns a running check, without its replays. */
export function checkRow(more: Partial<ReplayCheckRow> = {}): ReplayCheckRow {
  return {
    id: "check_1",
    teamId,
    lineId,
    stationId: "sta_work",
    stationKey: "work",
    setId: "rset_1",
    setVersion: 1,
    candidateId: "cand_2",
    replayId: "rep_2",
    baselineReplayId: "rep_1",
    attempt: 1,
    reference: { commit: null, pullRequest: 7 },
    liveFingerprint: "f",
    candidateFingerprint: "g",
    liveRunning: "r",
    candidateRunning: "q",
    scoring: "s",
    runsDigest: "d",
    keptLive: [],
    repeats: 1,
    warned: [],
    tasks: 1,
    threshold: { mostRegressions: 0, minGain: 0.05, ceiling: { amount: 10, currency: "EUR" } },
    verdict: "running",
    undecidedBecause: null,
    regressed: 0,
    compared: 0,
    createdAt: "2026-01-01T00:00:00.000Z",
    decidedAt: null,
    endedAt: null,
    ...more,
  };
}

/** Writes a check into a store, and returns its id. */
export async function storeCheck(
  store: Store,
  { workspaceId, ...more }: Partial<ReplayCheckRow> & { readonly workspaceId: string },
): Promise<string> {
  const rows = memoryRows();
  const row = checkRow(more);
  withTurn(
    { partition: workspaceId, kind: "replay-check", id: row.id },
    (turn) => replayChecks.insert(turn, workspaceId, row),
    { rows },
  );
  await store.commit(rows.range({ prefix: [] }).map(({ key, value }) => ({ op: "put", key, value }) as const));
  return row.id;
}
