import type { Answered, Message } from "../../runtime/turn.js";
import type { Refusal } from "../refusal.js";
import type { CheckStarted, ForgetCheck, StartCheck } from "./check.messages.js";
import type { ReplaySides } from "./check-sides.js";
import type { PreparedCheck } from "./prepare-check.js";
import type { Decision } from "./verdict.js";

/** A start that nothing refuses. */
interface StartMade extends Answered<CheckStarted> {
  readonly type: "start.made";
  readonly message: StartCheck;
  readonly prepared: PreparedCheck;
}
/** A start that an earlier check answers, or that was answered before under its key. */
interface StartAnswered extends Answered<CheckStarted> {
  readonly type: "start.answered";
  readonly started: CheckStarted;
}
interface StartRefused extends Answered<Refusal> {
  readonly type: "start.refused";
  readonly refusal: Refusal;
}

/** One of its replays moved: what it finds now. */
export interface SidesMoved {
  readonly sides: ReplaySides;
  readonly decision: Decision;
}
/** Not decided yet; or it is for good, and its replays go on. */
interface MovedOn extends Message, SidesMoved {
  readonly type: "moved.on";
}
interface MovedToFailed extends Message, SidesMoved {
  readonly type: "moved.failed";
}
interface MovedToPassed extends Message, SidesMoved {
  readonly type: "moved.passed";
}
interface MovedToUndecided extends Message, SidesMoved {
  readonly type: "moved.undecided";
}
/** A message that changes nothing. */
interface Other extends Message {
  readonly type: "check.other";
}

/** A message classified by its effect, with what was read to classify it. */
export type CheckEvent =
  | StartMade
  | StartAnswered
  | StartRefused
  | MovedOn
  | MovedToFailed
  | MovedToPassed
  | MovedToUndecided
  | ForgetCheck
  | Other;
