import type { Reading } from "../../storage/store.js";
import type { Money } from "../money.js";
import { listedTable } from "../tables/indexed-table.js";
import { replayChanges } from "./replay-changes.js";

/** The states of a replay (replays, States and transitions). The last three are its ends. */
export const replayStates = ["queued", "running", "finished", "stopped", "over-budget"] as const;
export type ReplayState = (typeof replayStates)[number];

/** What a replay runs. Only proposed candidates are resources. */
export const candidateKinds = ["proposed", "live", "planned", "searched", "with-answer"] as const;
export type CandidateKind = (typeof candidateKinds)[number];

/** How many copies of a replay there are of each kind. Those that wait for a place in the queue are the rest. */
export interface ReplayCounts {
  /** In the dispatcher's queue. */
  readonly queued: number;
  /** With a runner. */
  readonly running: number;
  /** Settled: they run no more. Of these, those with each result; without one while they are judged. */
  readonly settled: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly unscored: number;
}

/** What a replay spent, as fractions in the ceiling's currency (`fraction.ts`, `toText`). */
export interface ReplaySpending {
  /** What its copies reported, with their first judgings. */
  readonly spent: string;
  /** What counts against the ceiling only: second judgings, pairs, estimates of model calls under way. */
  readonly besides: string;
  /** Copies with an attempt that began its agent and reported no cost in the ceiling's currency. */
  readonly unpriced: number;
}

/** A replay of a set: each of its runs, repeated under one config. Its config and entries are its input. */
export interface ReplayRow {
  readonly id: string;
  readonly teamId: string;
  readonly lineId: string;
  readonly stationId: string;
  readonly stationKey: string;
  readonly setId: string;
  /** The version of the set that it replays. */
  readonly setVersion: number;
  readonly candidate: { readonly id: string; readonly name: string; readonly kind: CandidateKind };
  /** The three fingerprints of its config (`lines/fingerprint.ts`). */
  readonly fingerprint: string;
  readonly runningFingerprint: string;
  readonly scoringFingerprint: string;
  readonly state: ReplayState;
  /** Number of runs that it replays, and how many copies of each it makes. */
  readonly runs: number;
  readonly repeats: number;
  /** The most that it may spend; the amount that holds, where the start raised it. */
  readonly ceiling: Money;
  readonly createdAt: string;
  /** When a runner took the first copy. */
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** Whether it checks the set. */
  readonly probe: boolean;
  /** The replay that its changes are set beside, chosen at the start. */
  readonly pairedWith: string | null;
  /** The replay that became the set's baseline with its start: itself, or one started beside it. Null when one stood. */
  readonly startedBaseline: string | null;
  /** The live replay whose finishing started it, for a replay with the answer. */
  readonly answers: string | null;
  readonly search: { readonly searchId: string; readonly candidateName: string } | null;
  readonly counts: ReplayCounts;
  readonly spending: ReplaySpending;
  /** Whether all judging is over, also second judgings, second checks and pairs, which follow its end. */
  readonly judged: boolean;
  /** What it waits for, and since when; null while it goes on. */
  readonly waiting: { readonly for: "model" | "runner"; readonly since: string } | null;
}

/** A replay with the values of its indexes that are computed. */
interface ListedReplay extends ReplayRow {
  /** The set that it checks; null when it checks none. */
  readonly checksSet: string | null;
}

/** `[replay]`; ids rise with time. */
export const replays = listedTable<ReplayRow, ListedReplay>("replay", {
  order: ["id"],
  listed: (replay) => ({ ...replay, checksSet: replay.probe ? replay.setId : null }),
  changes: (replay, _reading, write) => replayChanges(replay, write),
  indexes: {
    "set-replay": ["setId"],
    "set-replay-by-config": ["setId", "runningFingerprint", "scoringFingerprint"],
    "set-replay-checking": { by: ["checksSet"], has: ["checksSet"] },
    "team-replay": ["teamId"],
    "paired-replay": { by: ["pairedWith"], has: ["pairedWith"] },
    "replay-under-way": { by: ["teamId", "state"], only: { state: ["queued", "running"] } },
  },
});

/** Whether it has not ended. */
export function isUnderWay({ state }: Pick<ReplayRow, "state">): boolean {
  return state === "queued" || state === "running";
}

/** The replays of a team, or of one of its sets, that have not ended, newest first. */
export function listUnderWay(
  reading: Reading,
  workspaceId: string,
  { teamId, setId }: { readonly teamId: string; readonly setId?: string },
): readonly ReplayRow[] {
  const found = (["queued", "running"] as const).flatMap((state) =>
    replays.all(reading, workspaceId, { teamId, state, setId }),
  );
  return found.sort((left, right) => (left.id < right.id ? 1 : -1));
}
