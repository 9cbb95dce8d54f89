import type { RunConfig } from "../../actors/lines/fingerprint.js";
import type { ReplayRow } from "../../actors/replays/replay/replay.js";
import { replays } from "../../actors/replays/replay/replay.table.js";
import { type ReplayInputRow, replayInputs } from "../../actors/replays/replay/replay-input.table.js";
import type { Store } from "../../storage/store.js";
import { memoryRows } from "./turn.js";
import { line, lineId, teamId } from "./work.js";

/** This file has rows of replays, for readers and for machines stepped by hand. */

const [work] = line.stations;
if (work === undefined) throw new Error("the line has no station");
const { id: _id, name, passesTo, alerts, runners, ...station } = work;

export const replayConfig: RunConfig = { station, repositories: line.repositories, skills: [], profile: null };

/** Returns a finished replay of a run, without its copies. */
export function replayRow(more: Partial<ReplayRow> = {}): ReplayRow {
  return {
    id: "rep_1",
    teamId,
    lineId,
    stationId: work?.id ?? "",
    stationKey: "work",
    setId: "rset_1",
    setVersion: 1,
    candidate: { id: "cand_1", name: "Live config", kind: "live" },
    fingerprint: "f",
    runningFingerprint: "r",
    scoringFingerprint: "s",
    state: "finished",
    runs: 1,
    repeats: 1,
    ceiling: { amount: 10, currency: "EUR" },
    createdAt: "2026-01-01T00:00:00.000Z",
    startedAt: null,
    endedAt: "2026-01-01T00:00:00.000Z",
    probe: false,
    pairedWith: null,
    startedBaseline: "rep_1",
    answers: null,
    search: null,
    judged: true,
    waiting: null,
    counts: { queued: 0, running: 0, settled: 0, succeeded: 0, failed: 0, unscored: 0 },
    spending: { spent: "0/1", besides: "0/1", unpriced: 0 },
    ...more,
  };
}

export function replayInput(more: Partial<ReplayInputRow> = {}): ReplayInputRow {
  return {
    replayId: "rep_1",
    config: replayConfig,
    block: { name, passesTo, alerts, runners },
    next: [],
    live: { repositories: line.repositories, station: { check: null } },
    entries: [],
    judgeModel: null,
    concurrency: null,
    stationAddress: "core/dev/work",
    ...more,
  };
}

/** Writes a finished replay without its copies into a store; returns its id. */
export async function storeReplay(store: Store, of: Partial<ReplayRow> & { workspaceId: string }): Promise<string> {
  const { workspaceId: partition, ...more } = of;
  const rows = memoryRows();
  const row = replayRow(more);
  replays.insert(rows, partition, row);
  replayInputs.insert(rows, partition, replayInput({ replayId: row.id }));
  await store.commit(rows.range({ prefix: [] }).map(({ key, value }) => ({ op: "put", key, value }) as const));
  return row.id;
}
