import { reference } from "../../runtime/cells/reference.js";
import type { Answered } from "../../runtime/turns/turn.js";
import type { Refusal } from "../refusal.js";
import type { ResendPeriod } from "./resend.queries.js";

/** Resends the failed hook occurrences of a period. */
export interface ResendFailed extends Answered<Refusal | null> {
  readonly type: "hooks.resend";
  readonly period: ResendPeriod;
}

/** The actor that resends for a team. The actor's id is the team's id. */
export const hookResenderRef = reference<ResendFailed>("hook-resender");
