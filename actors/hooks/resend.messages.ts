import { reference } from "../../runtime/reference.js";
import type { Answered } from "../../runtime/turn.js";
import type { Refusal } from "../refusal.js";
import type { ResendPeriod } from "./resend.queries.js";

/** Sends the failed hook occurrences of a period again. */
export interface ResendFailed extends Answered<Refusal | null> {
  readonly type: "hooks.resend";
  readonly period: ResendPeriod;
}

/** The actor that sends again for a team; its id is the team's. */
export const hookResenderRef = reference<ResendFailed>("hook-resender");
