import type { z } from "zod";
import type { Turn } from "../../../runtime/turns/turn.js";
import type { Judge } from "../../judging/scales.js";
import type { Money } from "../../money.js";
import type { ModelAsking } from "../../outbound/models/model-asking.js";
import type { ModelMessage } from "../../outbound/models/model-request.js";
import { putReplay } from "../budget/search-budget.js";
import { replayCopies } from "../copies/replay-copy.table.js";
import type { ReplayCopyRow, ReplayRow } from "../replay/replay.js";
import { replays } from "../replay/replay.table.js";
import { getReplayInput } from "../replay/replay-input.table.js";
import type { ModelTerms } from "./model-terms.js";
import type { AskedReading, AskedVerdict, Look } from "./replay-judging.table.js";

/** The turn of a replay, with the data that its judging needs. */
export interface JudgingScene {
  readonly turn: Turn;
  readonly replayId: string;
  /** Null when no model is configured. */
  readonly terms: ModelTerms | null;
}

/** A question that is ready to send to the model. */
export interface PreparedQuestion {
  readonly messages: readonly ModelMessage[];
  readonly schema: z.ZodType;
  /** The kind of question, and the work that it shows to the model. */
  readonly of: Pick<AskedVerdict, "look" | "shown"> | Pick<AskedReading, "look" | "shown">;
  /** The model to ask; null for the model in the settings. */
  readonly model: string | null;
  /**
   * How many estimates to count. Two for the first reading of a pair, so that budget for the second reading is
   * reserved.
   */
  readonly estimates: 1 | 2;
  /**
   * What must fit under the ceiling before the question is asked: the question's estimates, or an amount. Null to ask
   * regardless of the ceiling.
   */
  readonly needs: "estimates" | Money | null;
}

/** What to do with a question after its outcome. */
export type AfterOutcome =
  | { readonly state: "over" }
  /** Ask the next question about the same copy. */
  | { readonly state: "next" }
  | { readonly state: "waiting"; readonly askAtMs: number; readonly asking: ModelAsking };

/** Returns the replay, whose row exists at least until its judging ends. */
export function getReplay({ turn, replayId }: JudgingScene): ReplayRow {
  const replay = replays.get(turn, turn.self.partition, replayId);
  if (replay === undefined) throw new Error("a judging without its replay");
  return replay;
}

/** Writes a changed replay row. */
export function changeReplay(scene: JudgingScene, change: (replay: ReplayRow) => ReplayRow): void {
  const before = getReplay(scene);
  putReplay(scene.turn, before, change(before));
}

/**
 * Returns the judge in the replay's config; null if there is none. A judge that names no model gets the model that was
 * the default when the replay started.
 */
export function findJudge({ turn, replayId }: JudgingScene): Judge | null {
  const { config, judgeModel } = getReplayInput(turn, turn.self.partition, replayId);
  const { judge } = config.station;
  return judge === null ? null : { ...judge, model: judge.model || judgeModel };
}

/** Returns the judge of a replay whose copies are judged. Throws if the replay's config has no judge. */
export function getJudge(scene: JudgingScene): Judge {
  const judge = findJudge(scene);
  if (judge === null) throw new Error("a judging without a judge");
  return judge;
}

/** Returns the copy that a request concerns. The copy exists for as long as its replay. */
export function getCopy({ turn, replayId }: JudgingScene, { place, repeat }: Pick<Look, "place" | "repeat">) {
  const copy = replayCopies.get(turn, turn.self.partition, replayId, place, repeat);
  if (copy === undefined) throw new Error("a judging without its copy");
  return copy;
}

/** Returns the id of a judged copy's run. Throws if the copy has no run. */
export function getRunId({ runId }: Pick<ReplayCopyRow, "runId">): string {
  if (runId === null) throw new Error("a judging of a copy without a run");
  return runId;
}
