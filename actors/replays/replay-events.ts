import type { Answered, EffectEnded, Message, Woken } from "../../runtime/turn.js";
import type { Refusal } from "../refusal.js";
import type { RunRow } from "../runs/run.js";
import type { QuestionEnded } from "./judging/look-questions.js";
import type {
  BeginReplay,
  CounterpartEnded,
  ForgetReplay,
  ReplayMessage,
  ReplayStopped,
  StopReplay,
} from "./replay.messages.js";
import type { ReplayStep } from "./replay-step.js";

/** The name of a copy in its replay. */
export interface CopyName {
  readonly place: number;
  readonly repeat: number;
}

/** Where a replay is with its copies. Small on purpose: readers use its row. */
export interface ReplayContext {
  /** Copies whose rows were made: the first ones, all runs once before any twice. */
  readonly made: number;
  /** Of these, how many were queued or are never. */
  readonly next: number;
  /** Copies whose runners were lost: they go behind all others. */
  readonly back: readonly CopyName[];
}

/** A slice of the replay's copies is made, and its queue is filled. */
interface MakeCopies extends Message {
  readonly type: "copies.make";
}
/** The last slice, when none of its runs can be repeated. */
interface MakeLastCopies extends Message {
  readonly type: "copies.make-last";
}
/** A runner took a copy's run. */
interface CopyTaken extends Message {
  readonly type: "copy.taken";
  readonly step: ReplayStep;
}
/** A copy changed; the replay goes on, or has ended before. */
interface StepOn extends Message {
  readonly type: "step.on";
  readonly step: ReplayStep;
}
/** The same, and every copy has a result. */
interface StepFinished extends Message {
  readonly type: "step.finished";
  readonly step: ReplayStep;
}
/** The same, and the ceiling is reached, some copies have not run, and none runs. */
interface StepOverBudget extends Message {
  readonly type: "step.over-budget";
  readonly step: ReplayStep;
}
/** The model's answer to a question of its judging. */
interface JudgingAnswered extends Message {
  readonly type: "judging.answered";
  readonly ended: QuestionEnded;
}
/** Time to go on with the judging. */
interface JudgingOn extends Message {
  readonly type: "judging.on";
}
/** Its search was stopped, and it is still judged. */
interface EndJudging extends Message {
  readonly type: "judging.end";
}
/** The run of a second check is over. */
interface RecheckOver extends Message {
  readonly type: "recheck.over";
  readonly run: RunRow;
}
interface StopRefused extends Answered<Refusal> {
  readonly type: "stop.refused";
  readonly refusal: Refusal;
}
/** A stop under a key that was taken before. */
interface StopRepeated extends Answered<ReplayStopped> {
  readonly type: "stop.repeated";
}
/** The next slice of a replay that is removed. */
interface RemoveCopies extends Message {
  readonly type: "copies.remove";
}
/** A message that changes nothing. */
interface Other extends Message {
  readonly type: "replay.other";
}

/** The messages that a replay gets. */
export type ReplayIncoming = ReplayMessage | EffectEnded | Woken;

/** A message classified by its effect, with what was read to classify it. */
export type ReplayEvent =
  | BeginReplay
  | MakeCopies
  | MakeLastCopies
  | CopyTaken
  | StepOn
  | StepFinished
  | StepOverBudget
  | JudgingAnswered
  | JudgingOn
  | EndJudging
  | RecheckOver
  | CounterpartEnded
  | StopReplay
  | StopRefused
  | StopRepeated
  | ForgetReplay
  | RemoveCopies
  | Other;
