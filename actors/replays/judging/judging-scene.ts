import type { z } from "zod";
import type { Turn } from "../../../runtime/turn.js";
import type { Judge } from "../../judging/scales.js";
import type { Money } from "../../money.js";
import type { ModelAsking } from "../../outbound/model-asking.js";
import type { ModelMessage } from "../../outbound/model-request.js";
import type { ReplayCopyRow, ReplayRow } from "../replay.js";
import { replays } from "../replay.table.js";
import { replayCopies } from "../replay-copy.table.js";
import { getReplayInput } from "../replay-input.table.js";
import { putReplay } from "../replay-purse.js";
import type { ModelTerms } from "./model-terms.js";
import type { AskedReading, AskedVerdict, Look } from "./replay-judging.table.js";

/** A turn of a replay, as its judging needs it. */
export interface JudgingScene {
  readonly turn: Turn;
  readonly replayId: string;
  /** Null when no model is set up. */
  readonly terms: ModelTerms | null;
}

/** A question, ready to be asked. */
export interface PreparedQuestion {
  readonly messages: readonly ModelMessage[];
  readonly schema: z.ZodType;
  /** What is asked, and what is shown. */
  readonly of: Pick<AskedVerdict, "look" | "shown"> | Pick<AskedReading, "look" | "shown">;
  /** The model to ask; null for the one of the settings. */
  readonly model: string | null;
  /** How many estimates it counts: two for the first reading of a pair, so that there is room for the second. */
  readonly estimates: 1 | 2;
  /** What the ceiling has to have room for; null when it is asked in any case. */
  readonly needs: "estimates" | Money | null;
}

/** What becomes of a question after an outcome. */
export type AfterOutcome =
  | { readonly state: "over" }
  /** The next question about the same copy. */
  | { readonly state: "next" }
  | { readonly state: "waiting"; readonly askAtMs: number; readonly asking: ModelAsking };

/** The replay, which exists as long as it is judged. */
export function getReplay({ turn, replayId }: JudgingScene): ReplayRow {
  const replay = replays.get(turn, turn.self.partition, replayId);
  if (replay === undefined) throw new Error("a judging without its replay");
  return replay;
}

export function changeReplay(scene: JudgingScene, change: (replay: ReplayRow) => ReplayRow): void {
  const before = getReplay(scene);
  putReplay(scene.turn, before, change(before));
}

/** The judge of the replay's config, with the model of the replay's start; null for none. */
export function findJudge({ turn, replayId }: JudgingScene): Judge | null {
  const { config, judgeModel } = getReplayInput(turn, turn.self.partition, replayId);
  const { judge } = config.station;
  return judge === null ? null : { ...judge, model: judge.model || judgeModel };
}

/** The judge of a replay whose copies are judged. */
export function getJudge(scene: JudgingScene): Judge {
  const judge = findJudge(scene);
  if (judge === null) throw new Error("a judging without a judge");
  return judge;
}

export function getCopy({ turn, replayId }: JudgingScene, { place, repeat }: Pick<Look, "place" | "repeat">) {
  const copy = replayCopies.get(turn, turn.self.partition, replayId, place, repeat);
  if (copy === undefined) throw new Error("a judging without its copy");
  return copy;
}

/** The run of a copy that is judged. */
export function getRunId({ runId }: Pick<ReplayCopyRow, "runId">): string {
  if (runId === null) throw new Error("a judging of a copy without a run");
  return runId;
}
