import { reference } from "../../runtime/reference.js";
import type { Answered, Message } from "../../runtime/turn.js";
import type { Caller } from "../caller.js";
import type { LineFields } from "../lines/line.js";
import type { FieldError, Refusal } from "../refusal.js";
import type { ProposedBlock } from "../replays/live-block.js";
import type { ReplayMoved } from "../replays/replay.messages.js";
import type { Keyed } from "../resources/repeated-request.js";
import type { ReplayCheckRow } from "./check.js";

/** A part of a request in its form, or the faults of it, which are refused in their order with the others. */
export type Parsed<Part> = { readonly data: Part } | { readonly errors: readonly FieldError[] };

/** What a plan makes of a station. */
export interface PlannedChange {
  readonly station: ProposedBlock;
  /** The line's repositories as the plan has them; null for the live ones. */
  readonly repositories: LineFields["repositories"] | null;
}

/** What a check is asked for besides. */
export interface CheckTerms {
  readonly reference: ReplayCheckRow["reference"];
  /** 1 to 5. */
  readonly repeats: number;
}

/** Starts a check of a planned change, at an address of its own; answers with an earlier one where that holds still. */
export interface StartCheck extends Answered<CheckStarted | Refusal>, Keyed {
  readonly type: "check.start";
  readonly caller: Caller;
  /** The client for the change record. */
  readonly client: string | null;
  readonly teamId: string;
  readonly lineId: string;
  readonly stationKey: string;
  readonly planned: Parsed<PlannedChange>;
  readonly terms: Parsed<CheckTerms>;
}

export interface CheckStarted {
  readonly checkId: string;
  /** `reused`: another request started it, and it holds for this one. `replayed`: an earlier request under this key did. */
  readonly how: "started" | "reused" | "replayed";
}

/** It is stored too long: removes its rows. */
interface ForgetCheck extends Message {
  readonly type: "check.forget";
}

export type CheckMessage = StartCheck | ForgetCheck | ReplayMoved;

/** A check of a workspace. */
export const replayCheckRef = reference<CheckMessage>("replay-check");
