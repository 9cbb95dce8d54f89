import type { Turn } from "../../../runtime/turn.js";
import { toReplayTerms } from "../../runs/replay-terms.js";
import { runRef, type StartRun } from "../../runs/run.messages.js";
import { getRunInput, type InputCheckout } from "../../runs/run-input.table.js";
import { toRunNeeds } from "../../tasks/next-run.js";
import type { ReplayRow } from "../replay.js";
import { laneOfReplay, replayRef } from "../replay.messages.js";
import { getReplayInput } from "../replay-input.table.js";

/** Queues a run that only checks what another run of the replay left, in the replay's lane. Returns its id. */
export function queueCheck(
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
    ...{ owner: { kind: "replay", id }, ownerAddress: replayRef(partition, id), lane: laneOfReplay(replay) },
    ...{ teamId, lineId, stationId, stationKey, config, fingerprint },
    beginning: { ...beginning, checkouts: left.checkouts, replay: toReplayTerms("check", config, live) },
    needs: toRunNeeds(turn, { runners: block.runners, harness: config.station.harness }),
  };
  turn.send(runRef(partition, runId), start);
  return runId;
}
