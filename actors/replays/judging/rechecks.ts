import type { Turn } from "../../../runtime/turns/turn.js";
import { toReplayTerms } from "../../runs/replay-terms.js";
import type { RunRow } from "../../runs/run.js";
import { type EndRun, runRef, type StartRun } from "../../runs/run.messages.js";
import { runCheckouts } from "../../runs/run.table.js";
import { getRunInput, type InputCheckout } from "../../runs/run-input.table.js";
import { toRunNeeds } from "../../tasks/next-run.js";
import { MAX_ATTEMPTS } from "../copies/copy-result.js";
import { listCopies } from "../copies/replay-copy.table.js";
import { lastBytes, OUTPUT_BYTES } from "../figures/excerpt.js";
import type { ReplayRow } from "../replay/replay.js";
import { laneOfReplay, replayRef } from "../replay/replay.messages.js";
import { getReplayInput } from "../replay/replay-input.table.js";
import { getCopy, getReplay, getRunId, type JudgingScene } from "./judging-scene.js";
import { type ReplayRecheckRow, replayRechecks } from "./replay-recheck.table.js";

/** Maximum number of a replay's second checks that run or wait for a runner at a time. */
const MAX_RECHECKS = 20;

/** Requests a second check of each change that was checked. */
export function wantRechecks(scene: JudgingScene): void {
  const { turn, replayId } = scene;
  const { partition } = turn.self;
  for (const { place, repeat, check } of listCopies(turn, partition, replayId)) {
    if (check === null) continue;
    const open = { state: "asked", runId: null, lostRunIds: [], check: null, reason: null } as const;
    replayRechecks.insert(turn, partition, { replayId, place, repeat, ...open });
  }
  startRechecks(scene);
}

/**
 * Applies the end of a second check's run. If the runner was lost, the check starts again, up to {@link MAX_ATTEMPTS}
 * attempts in total.
 */
export function takeRecheckOver(scene: JudgingScene, before: ReplayRecheckRow, run: RunRow): void {
  const { check, outcome, reason, id } = run;
  if (before.state !== "asked") return;
  if (outcome === "abandoned" && before.lostRunIds.length + 1 < MAX_ATTEMPTS) {
    put(scene, before, { runId: null, lostRunIds: [...before.lostRunIds, id] });
  } else if (check === null) {
    put(scene, before, { state: "none", reason: reason ?? "The check did not run." });
  } else {
    const { passed, exitCode, output } = check;
    put(scene, before, { state: "checked", check: { passed, exitCode, tail: lastBytes(output, OUTPUT_BYTES) } });
  }
  startRechecks(scene);
}

/** Ends all second checks in progress without a result, and withdraws their runs. */
export function endRechecks(scene: JudgingScene): void {
  const { turn } = scene;
  const reason = "The replay was stopped.";
  for (const row of listOpen(scene)) {
    const end: EndRun = { type: "run.end", outcome: "withdrawn", reason };
    if (row.runId !== null) turn.send(runRef(turn.self.partition, row.runId), end);
    put(scene, row, { state: "none", reason });
  }
}

/** Whether all second checks of the replay have ended. */
export function areRechecksOver(scene: JudgingScene): boolean {
  return !getReplay(scene).probe || listOpen(scene).length === 0;
}

/** Starts the runs of second checks that have none yet, until {@link MAX_RECHECKS} second checks have a run. */
function startRechecks(scene: JudgingScene): void {
  const open = listOpen(scene);
  let free = MAX_RECHECKS - open.filter(({ runId }) => runId !== null).length;
  for (const row of open) {
    if (free <= 0) return;
    if (row.runId !== null) continue;
    const left = findLeft(scene, row);
    if (left === null) put(scene, row, { state: "none", reason: "Its change was not stored." });
    else put(scene, row, { runId: queueCheck(scene.turn, getReplay(scene), left) });
    free -= 1;
  }
}

/**
 * Returns the copy's changes in the form of a run's input; null if the copy did not report a change for each
 * repository.
 */
function findLeft(scene: JudgingScene, row: ReplayRecheckRow) {
  const { turn } = scene;
  const { partition } = turn.self;
  const runId = getRunId(getCopy(scene, row));
  const { config } = getRunInput(turn, partition, runId);
  const left = runCheckouts.list(turn, partition, [runId]);
  if (left.length < config.repositories.length) return null;
  return { runId, checkouts: left.map(({ repository, base, digest: diff }) => ({ repository, base, diff })) };
}

function listOpen({ turn, replayId }: JudgingScene): readonly ReplayRecheckRow[] {
  return replayRechecks.list(turn, turn.self.partition, [replayId]).filter(({ state }) => state === "asked");
}

function put({ turn }: JudgingScene, before: ReplayRecheckRow, change: Partial<ReplayRecheckRow>): void {
  replayRechecks.put(turn, turn.self.partition, before, { ...before, ...change });
}

/**
 * Queues, in the replay's lane, a run that only checks the changes of another run of the replay. Returns the id of the
 * queued run.
 */
function queueCheck(
  turn: Turn,
  replay: ReplayRow,
  left: { readonly runId: string; readonly checkouts: readonly InputCheckout[] },
): string {
  const { partition } = turn.self;
  const { id, teamId, lineId, stationId, stationKey, fingerprint } = replay;
  const { config, block, live } = getReplayInput(turn, partition, id);
  const { beginning } = getRunInput(turn, partition, left.runId);
  if (beginning === null) throw new Error("a check of a run whose beginning is not stored");
  const runId = turn.newId("run");
  const start: StartRun = {
    type: "run.start",
    owner: { kind: "replay", id },
    ownerAddress: replayRef(partition, id),
    lane: laneOfReplay(replay),
    teamId,
    lineId,
    stationId,
    stationKey,
    config,
    fingerprint,
    beginning: { ...beginning, checkouts: left.checkouts, replay: toReplayTerms("check", config, live) },
    needs: toRunNeeds(turn, { runners: block.runners, harness: config.station.harness }),
  };
  turn.send(runRef(partition, runId), start);
  return runId;
}
