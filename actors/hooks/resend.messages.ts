import { reference } from "../../runtime/reference.js";
import type { Answered } from "../../runtime/turn.js";
import type { Refusal } from "../refusal.js";
import type { ResendPeriod } from "./resend.queries.js";

/** Sends again what failed in a period. */
export interface ResendFailed extends Answered<Refusal | null> {
  readonly type: "hooks.resend";
  readonly period: ResendPeriod;
}

/** What sends again for a team, whose id it has. */
export const hookResenderRef = reference<ResendFailed>("hook-resender");
