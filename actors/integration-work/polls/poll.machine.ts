/**
 * The poll of an integration, `poll/<integration>`. It sends a request `everyMinutes` after the last one ended, and the
 * first request within a minute. It records the response as a delivery (`record-delivery.ts`).
 *
 * 1. Only one request runs at a time.
 * 2. The cursor, the delivery and the next time are stored in one batch, so that no data is lost or recorded twice. A
 *    failure leaves the cursor unchanged.
 * 3. A failing poll never pauses. It retries with growing waits of at most one day (`poll.transitions.ts`). From the
 *    third consecutive failure on, the integration shows a warning, and the workspace's owners get one mail.
 * 4. The cursor survives removal of the `poll` block, until the integration is removed.
 *
 * | state   | event                                           | next    | also                                        |
 * |---------|-------------------------------------------------|---------|---------------------------------------------|
 * | off     | check.set (poll.check)                          | resting | schedules a request within a minute         |
 * | off     | check.off, check.gone                           | off     | stops; check.gone also removes the row      |
 * | resting | check.set                                       | resting | schedules the next request by the current   |
 * |         |                                                 |         | definition, but does not move the first one |
 * | resting | check.off: the `poll` block was removed         | off     | cancels the wake-up, keeps the cursor; stops|
 * | resting | check.gone: the integration was removed or the  | off     | removes the row; stops                      |
 * |         | workspace was closed                            |         |                                             |
 * | resting | due.usable (woken), now.usable (poll.now)       | asking  | sends the request; a GET may run again      |
 * | resting | due.unlinked, now.unlinked: no connection       | resting | records the failure `not-connected`         |
 * | resting | due.off: the `poll` block was removed           | off     | like check.off                              |
 * | asking  | answer.success                                  | resting | stores cursor, delivery and next time; sets |
 * |         |                                                 |         | `failures` to 0                             |
 * | asking  | answer.failure: any other result, or a crash    | resting | increments `failures`; keeps the cursor     |
 * | asking  | check.set                                       | asking  |                                             |
 * | asking  | check.off, check.gone                           | off     | like resting; also cancels the request      |
 * | asking  | now.usable, now.unlinked                        | asking  | replies                                     |
 * | resting,| poll.cursor                                     | same    | sets the cursor; the response to a running  |
 * | asking  |                                                 |         | request does not change it                  |
 * | any     | now.refused, cursor.refused: no poll            | same    | replies with the refusal                    |
 * | any     | now.repeated: a repeated idempotency key        | same    | replies                                     |
 * | any     | answer.other: the end of a mail effect or of an | same    |                                             |
 * |         | old request                                     |         |                                             |
 */
import { createChart, toEvent } from "../../../runtime/cells/chart.js";
import { defineActor } from "../../../runtime/cells/define-actor.js";
import { isEffectResult } from "../../../runtime/effects/effect-type.js";
import type { EffectEnded, TurnReading } from "../../../runtime/turns/turn.js";
import { connections } from "../../integrations/connection.table.js";
import type { IntegrationFields } from "../../integrations/definition.js";
import { polls } from "../../integrations/poll.table.js";
import { INTEGRATION_REQUEST } from "../../integrations/requests/integration-request.effects.js";
import { answerRefusal, isRefusal, type Refusal, toRefused } from "../../refusal.js";
import { findRequestBefore } from "../../resources/repeated-request.js";
import { findResource, type ResourceRow } from "../../resources/resource.table.js";
import { type PollMessage, type PollNow, pollRef } from "./poll.messages.js";
import {
  answerAgain,
  answerNow,
  ask,
  begin,
  fail,
  type PollContext,
  type PollResult,
  recordAnswer,
  restAgain,
  type SetPoll,
  setCursor,
  switchOff,
} from "./poll.transitions.js";

const nothing: PollContext = { askId: null, sinceMs: 0, notBeforeMs: 0, isCursorSet: false };

const { on, machine } = createChart<PollContext, ReturnType<typeof classifyPoll>>();

const anywhere = {
  ...on("now.refused", answerRefusal),
  ...on("cursor.refused", answerRefusal),
  ...on("now.repeated", answerAgain),
  ...on("answer.other"),
};

const checkedOff = {
  ...on("check.off", "off", ({ turn }, context) => switchOff(turn, context, { isGone: false })),
  ...on("check.gone", "off", ({ turn }, context) => switchOff(turn, context, { isGone: true })),
};

const dueOff = on("due.off", "off", ({ turn }, context) => switchOff(turn, context, { isGone: false }));

const pollMachine = machine({
  id: "poll",
  context: nothing,
  initial: "off",
  on: anywhere,
  states: {
    off: { on: { ...checkedOff, ...dueOff, ...on("check.set", "resting", begin) } },
    resting: {
      on: {
        ...checkedOff,
        ...dueOff,
        ...on("check.set", restAgain),
        ...on("due.usable", "asking", ask),
        ...on("due.unlinked", ({ turn, set }) => fail(turn, set, null)),
        ...on("now.usable", "asking", ask, answerNow),
        ...on("now.unlinked", ({ turn, set }) => fail(turn, set, null), answerNow),
        ...on("poll.cursor", setCursor),
      },
    },
    asking: {
      on: {
        ...checkedOff,
        ...on("check.set"),
        ...on("answer.success", "resting", recordAnswer),
        ...on("answer.failure", "resting", ({ turn, set, result }) => fail(turn, set, result)),
        ...on("now.usable", answerNow),
        ...on("now.unlinked", answerNow),
        ...on("poll.cursor", setCursor),
      },
    },
  },
});

/** See the table above. */
export const pollActor = defineActor(pollRef, { machine: pollMachine, classify: classifyPoll, version: 1 });

const NO_POLL: Refusal = { refused: "conflict", detail: "The integration has no poll." };

/** Classifies each message to a poll by the current definition. Only reads. */
function classifyPoll(
  message: PollMessage,
  { value, context }: { readonly value: string; readonly context: PollContext },
  turn: TurnReading,
) {
  const integration = findIntegration(turn);
  const set = integration === undefined ? null : toSetPoll(integration);
  // Until the poll has handled the first `poll.check`, refuse `poll.now` and `poll.cursor` as if there were no poll.
  const running = value === "off" ? null : set;
  switch (message.type) {
    case "poll.check":
      if (set !== null) return toEvent("check.set", { set });
      return toEvent(integration === undefined ? "check.gone" : "check.off");
    case "woken":
      if (set === null) return toEvent("due.off");
      return toEvent(isUsable(turn, integration) ? "due.usable" : "due.unlinked", { set });
    case "poll.now":
      return toNowEvent(message, turn, { set: running, isLinked: isUsable(turn, integration) });
    case "poll.cursor":
      return running === null ? toRefused("cursor.refused", NO_POLL) : message;
    case "effect.ended":
      return toAnswerEvent(message, context, set);
    // No transition handles a message of an unknown type.
    default:
      return message;
  }
}

function toNowEvent(
  message: PollNow,
  turn: TurnReading,
  { set, isLinked }: { readonly set: SetPoll | null; readonly isLinked: boolean },
) {
  const before = findRequestBefore(turn, message);
  if (isRefusal(before)) return toRefused("now.refused", before);
  const poll = polls.get(turn, turn.self.partition, turn.self.id);
  if (before !== null && poll !== undefined) return toEvent("now.repeated", message);
  if (set === null || poll === undefined) return toRefused("now.refused", NO_POLL);
  return toEvent(isLinked ? "now.usable" : "now.unlinked", { ...message, set });
}

function toAnswerEvent(message: EffectEnded, { askId }: PollContext, set: SetPoll | null) {
  if (!isEffectResult(INTEGRATION_REQUEST, message) || message.id !== askId || set === null)
    return toEvent("answer.other");
  const { result } = message;
  const output: PollResult = result.ok ? result.output : { success: false, code: "errored", reason: "it went wrong" };
  const isWhole = output.success && output.body !== undefined;
  return toEvent(isWhole ? "answer.success" : "answer.failure", { set, result: output });
}

function findIntegration(turn: TurnReading): ResourceRow<IntegrationFields> | undefined {
  const { partition: workspaceId, id } = turn.self;
  if (findResource(turn, workspaceId, "workspace", workspaceId) === undefined) return undefined;
  return findResource<IntegrationFields>(turn, workspaceId, "integration", id);
}

function toSetPoll({ id, teamId, fields }: ResourceRow<IntegrationFields>): SetPoll | null {
  if (fields.poll === null) return null;
  const everyMs = fields.poll.everyMinutes * 60_000;
  return { integrationId: id, integration: fields.integration, teamId: teamId ?? "", everyMs };
}

/** Returns whether the integration needs no connection, or the team's connection is usable. */
function isUsable(turn: TurnReading, integration: ResourceRow<IntegrationFields> | undefined): boolean {
  if (integration === undefined || (integration.fields.connection?.oauth2 ?? null) === null) return true;
  const connection = connections.get(turn, turn.self.partition, integration.id, "team");
  return connection !== undefined && connection.linked !== null && connection.state !== "broken";
}
