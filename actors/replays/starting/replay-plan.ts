import type { Turn } from "../../../runtime/turns/turn.js";
import { decimal, fraction, multiply, toNumber, toText, ZERO } from "../../fraction.js";
import type { RunConfig } from "../../lines/fingerprint.js";
import type { LineFields } from "../../lines/line.js";
import { laterStations } from "../../lines/line.queries.js";
import { storeSkills } from "../../lines/run-setup.js";
import type { StationBody } from "../../lines/station.js";
import type { Money } from "../../money.js";
import { getTeamKey } from "../../resources/resource-indexes.table.js";
import { freezeTools } from "../../runs/frozen-tools.js";
import { pin } from "../../tables/pins.js";
import { recordMade } from "../candidates/made-candidate.table.js";
import type { Fingerprints } from "../candidates/station-config.js";
import type { ReplayRow } from "../replay/replay.js";
import { replayRef } from "../replay/replay.messages.js";
import { replays } from "../replay/replay.table.js";
import { type ReplayEntry, type ReplayInputRow, replayInputs } from "../replay/replay-input.table.js";
import { listPinned } from "../replay/replay-pins.js";
import { holdCommits } from "../sets/entry-commits.js";
import type { ReplaySetRow } from "../sets/replay-set.js";

/** Maximum ceiling of a replay, in its currency (see "Limits" in the replays document). */
export const MAX_CEILING = 1_000;

/** Maximum number of a team's replays in progress. Above it, no other replay of the team can start. */
export const MAX_UNDER_WAY = 100;

/** A replay to start. */
export interface ReplayPlan
  extends Pick<ReplayRow, "candidate" | "repeats" | "ceiling" | "probe" | "pairedWith" | "answers" | "search"> {
  readonly set: ReplaySetRow;
  /**
   * The station block to run, and its line. This is the live line, unless a planned change proposes other repositories.
   */
  readonly block: StationBody;
  readonly line: LineFields;
  readonly config: RunConfig;
  readonly fingerprints: Fingerprints;
  readonly judgeModel: string | null;
  /** The current live config of the station. */
  readonly live: RunConfig;
  /** The set's runs to repeat, at least one. */
  readonly entries: readonly ReplayEntry[];
  /**
   * The replay that becomes the set's baseline with this start; `itself` for the planned replay. Null if the set has a
   * baseline.
   */
  readonly startedBaseline: string | "itself" | null;
  readonly concurrency: number | null;
  /** Whether a replay with the answer may follow; true by default. */
  readonly oracle?: boolean;
}

/**
 * Writes the rows of a replay, pins the original runs and the paired replay, holds the runs' commits, and starts the
 * replay.
 */
export function orderReplay(turn: Turn, plan: ReplayPlan): ReplayRow {
  const { partition } = turn.self;
  const row = toRow(turn, plan);
  const { block, entries } = plan;
  storeSkills(turn, { workspaceId: partition, teamKey: getTeamKey(turn, partition, row.teamId) }, block.skills);
  replays.insert(turn, partition, row);
  replayInputs.insert(turn, partition, toInput(turn, row.id, plan));
  if (row.candidate.kind !== "proposed" && row.candidate.kind !== "searched") recordMade(turn, row);
  for (const pinned of listPinned(row, entries)) pin(turn, partition, { ...pinned, by: row.id });
  for (const { runId } of entries) holdCommits(turn, { runId, holder: row.id });
  turn.send(replayRef(partition, row.id), { type: "replay.begin" });
  return row;
}

function toRow(turn: Turn, plan: ReplayPlan): ReplayRow {
  const { set, candidate, repeats, ceiling, probe, pairedWith, startedBaseline, answers, search, entries } = plan;
  const { teamId, lineId, stationId, stationKey } = set;
  const id = turn.newId("rep");
  const unscored = repeats * entries.filter(({ refusal }) => refusal !== null).length;
  return {
    id,
    teamId,
    lineId,
    stationId,
    stationKey,
    setId: set.id,
    setVersion: set.version,
    candidate,
    ...plan.fingerprints,
    state: "queued",
    runs: entries.length,
    repeats,
    ceiling,
    createdAt: new Date(turn.now).toISOString(),
    startedAt: null,
    endedAt: null,
    probe,
    pairedWith,
    startedBaseline: startedBaseline === "itself" ? id : startedBaseline,
    answers,
    search,
    counts: { queued: 0, running: 0, settled: unscored, succeeded: 0, failed: 0, unscored },
    spending: { spent: toText(ZERO), besides: toText(ZERO), unpriced: 0 },
    judged: false,
    waiting: null,
    ...(plan.oracle === false && { oracle: false }),
  };
}

function toInput(turn: Turn, replayId: string, plan: ReplayPlan): ReplayInputRow {
  const { block, config, judgeModel, live, entries, concurrency, line } = plan;
  const { name, passesTo, alerts, runners } = block;
  const { partition: workspaceId } = turn.self;
  const teamKey = getTeamKey(turn, workspaceId, plan.set.teamId);
  const tools = freezeTools(turn, { workspaceId, teamKey }, config.station);
  return {
    stationAddress: `${teamKey}/${line.key}/${block.key}`,
    ...(tools && { tools }),
    replayId,
    config,
    judgeModel,
    block: { name, passesTo, alerts, runners },
    entries,
    concurrency,
    next: laterStations(line, block.key, passesTo),
    live: { repositories: live.repositories, station: { check: live.station.check } },
  };
}

/**
 * Converts the ceiling of a replay with `asked` copies of each run to the ceiling for `repeats` copies of each run, in
 * proportion, but at most {@link MAX_CEILING}.
 */
export function raiseCeiling({ amount, currency }: Money, asked: number, repeats: number): Money {
  const raised = multiply(decimal(amount), fraction(repeats, asked));
  return { amount: Math.min(MAX_CEILING, toNumber(raised)), currency };
}
