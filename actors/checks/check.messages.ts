import { reference } from "../../runtime/cells/reference.js";
import type { Answered, Message } from "../../runtime/turns/turn.js";
import type { Caller } from "../caller.js";
import type { LineFields } from "../lines/line.js";
import type { FieldError, Refusal } from "../refusal.js";
import type { ReplayMoved } from "../replays/replay/replay.messages.js";
import type { ProposedBlock } from "../replays/starting/live-block.js";
import type { Keyed } from "../resources/repeated-request.js";
import type { ReplayCheckRow } from "./check.js";

/** A parsed part of a request, or its format errors. The turn decides whether another refusal precedes these errors. */
export type Parsed<Part> = { readonly data: Part } | { readonly errors: readonly FieldError[] };

/** A planned change of a station. */
export interface PlannedChange {
  readonly station: ProposedBlock;
  /** The line's repositories in the plan; null for the live repositories. */
  readonly repositories: LineFields["repositories"] | null;
}

/** The terms that a request sets for a check, besides the planned change. */
export interface CheckTerms {
  readonly reference: ReplayCheckRow["reference"];
  /** From 1 to 5. */
  readonly repeats: number;
}

/**
 * Sent to a new check actor. Starts a check of a planned change. The answer names an earlier check instead, if that
 * check is still valid, or if an earlier request with the same idempotency key started that check.
 */
export interface StartCheck extends Answered<CheckStarted | Refusal>, Keyed {
  readonly type: "check.start";
  readonly caller: Caller;
  /** The client that the change record names; null if it names no client. */
  readonly client: string | null;
  readonly teamId: string;
  readonly lineId: string;
  readonly stationKey: string;
  readonly planned: Parsed<PlannedChange>;
  readonly terms: Parsed<CheckTerms>;
}

/** The answer to {@link StartCheck}. */
export interface CheckStarted {
  readonly checkId: string;
  /**
   * `reused`: another request started the check, and the check is also valid for this request. `replayed`: an earlier
   * request with this idempotency key started the check.
   */
  readonly how: "started" | "reused" | "replayed";
}

/** Sent by retention, or to make space for a new check: removes the check's rows. */
interface ForgetCheck extends Message {
  readonly type: "check.forget";
}

/** The messages to a check. */
export type CheckMessage = StartCheck | ForgetCheck | ReplayMoved;

/** Refers to a check by workspace and check id. */
export const replayCheckRef = reference<CheckMessage>("replay-check");
