import { isResultOf } from "../../runtime/effect-type.js";
import type { Answered, Message, TurnReading } from "../../runtime/turn.js";
import { connections } from "../integrations/connection.table.js";
import type { IntegrationFields } from "../integrations/definition.js";
import { type PollRow, polls } from "../integrations/poll.table.js";
import { INTEGRATION_REQUEST } from "../integrations/requests/integration-request.effects.js";
import type { IntegrationRequestResult } from "../integrations/requests/integration-request.js";
import { isRefusal, type Refusal } from "../refusal.js";
import { findRequestBefore } from "../resources/repeated-request.js";
import { findResource, isWorkspaceOpen, type ResourceRow } from "../resources/resource.table.js";
import type { PollMessage, PollNow, PollTold, SetCursor } from "./poll.messages.js";

export interface PollContext {
  /** The effect under way; null for none. */
  readonly askId: string | null;
  /** Since when it rests, in milliseconds since 1970. */
  readonly sinceMs: number;
  /** Until when the host asked to wait, in milliseconds since 1970. */
  readonly notBeforeMs: number;
  /** Whether the cursor was set since it asks. */
  readonly isCursorSet: boolean;
}

/** A poll as the definition has it. */
export interface SetPoll {
  readonly integrationId: string;
  readonly integration: string;
  readonly teamId: string;
  readonly everyMs: number;
}

interface AboutPoll extends Message {
  readonly type: "check.set" | "due.usable" | "due.unlinked";
  readonly set: SetPoll;
}

/** A request to poll now. */
interface NowAsked extends Answered<PollTold | Refusal>, Pick<PollNow, "idempotency"> {
  readonly type: "now.usable" | "now.unlinked";
  readonly set: SetPoll;
}

/** What came of a request that was made, or that went wrong. */
export type PollResult = Partial<IntegrationRequestResult> &
  Pick<IntegrationRequestResult, "success" | "code" | "reason">;

interface PollAnswered extends Message {
  readonly type: "answer.success" | "answer.failure";
  readonly set: SetPoll;
  readonly result: PollResult;
}

interface PollRefused extends Answered<PollTold | Refusal> {
  readonly type: "now.refused" | "cursor.refused";
  readonly refusal: Refusal;
}

interface PollRepeated extends Answered<PollTold | Refusal> {
  readonly type: "now.repeated";
  readonly poll: PollRow;
}

export type PollEvent =
  | AboutPoll
  | NowAsked
  | PollAnswered
  | PollRefused
  | PollRepeated
  | SetCursor
  | (Message & { readonly type: "check.off" | "check.gone" | "due.off" | "answer.other" });

const NO_POLL: Refusal = { refused: "conflict", detail: "The integration has no poll." };

/** Classifies each message to a poll by what the definition says now. Reads only. */
export function classifyPoll(
  message: PollMessage,
  { value, context }: { readonly value: string; readonly context: PollContext },
  turn: TurnReading,
): PollEvent {
  const integration = findIntegration(turn);
  const set = integration === undefined ? null : toSetPoll(integration);
  // Between the write of a definition and its check there is no poll yet.
  const running = value === "off" ? null : set;
  switch (message.type) {
    case "poll.check":
      if (set !== null) return { type: "check.set", set };
      return { type: integration === undefined ? "check.gone" : "check.off" };
    case "woken":
      if (set === null) return { type: "due.off" };
      return { type: isUsable(turn, integration) ? "due.usable" : "due.unlinked", set };
    case "poll.now":
      return toNowEvent(message, turn, { set: running, isLinked: isUsable(turn, integration) });
    case "poll.cursor":
      return running === null ? { type: "cursor.refused", refusal: NO_POLL } : message;
    case "effect.ended":
      return toAnswerEvent(message, context, set);
    // No transition takes a message of an unknown type.
    default:
      return message;
  }
}

function toNowEvent(
  message: PollNow,
  turn: TurnReading,
  { set, isLinked }: { readonly set: SetPoll | null; readonly isLinked: boolean },
): PollEvent {
  const before = findRequestBefore(turn, message);
  if (isRefusal(before)) return { type: "now.refused", refusal: before };
  const poll = polls.get(turn, turn.self.partition, turn.self.id);
  if (before !== null && poll !== undefined) return { type: "now.repeated", poll };
  if (set === null || poll === undefined) return { type: "now.refused", refusal: NO_POLL };
  return { type: isLinked ? "now.usable" : "now.unlinked", set, idempotency: message.idempotency };
}

function toAnswerEvent(
  message: Extract<PollMessage, { readonly type: "effect.ended" }>,
  { askId }: PollContext,
  set: SetPoll | null,
): PollEvent {
  if (!isResultOf(INTEGRATION_REQUEST, message) || message.id !== askId || set === null)
    return { type: "answer.other" };
  const { result } = message;
  const output: PollResult = result.ok ? result.output : { success: false, code: "errored", reason: "it went wrong" };
  const isWhole = output.success && output.body !== undefined;
  return { type: isWhole ? "answer.success" : "answer.failure", set, result: output };
}

function findIntegration(turn: TurnReading): ResourceRow<IntegrationFields> | undefined {
  const { partition: workspaceId, id } = turn.self;
  if (!isWorkspaceOpen(turn, workspaceId)) return undefined;
  return findResource<IntegrationFields>(turn, workspaceId, "integration", id);
}

function toSetPoll({ id, teamId, fields }: ResourceRow<IntegrationFields>): SetPoll | null {
  if (fields.poll === null) return null;
  const everyMs = fields.poll.everyMinutes * 60_000;
  return { integrationId: id, integration: fields.integration, teamId: teamId ?? "", everyMs };
}

/** Whether the integration needs no connection, or the team's can be used. */
function isUsable(turn: TurnReading, integration: ResourceRow<IntegrationFields> | undefined): boolean {
  if (integration === undefined || (integration.fields.connection?.oauth2 ?? null) === null) return true;
  const connection = connections.get(turn, turn.self.partition, integration.id, "team");
  return connection !== undefined && connection.linked !== null && connection.state !== "broken";
}
