import type { InTurn } from "../../../runtime/cells/chart.js";
import type { Delivered, Turn } from "../../../runtime/turns/turn.js";
import type { PollRow } from "../../integrations/poll.js";
import { POLL_FAILS_FROM, polls } from "../../integrations/poll.table.js";
import type { IntegrationRequestResult } from "../../integrations/requests/integration-request.js";
import { startIntegrationRequest } from "../../integrations/requests/start-request.js";
import { MAIL_EFFECT } from "../../outbound/mail/mail.effects.js";
import { failingPollMail } from "../../outbound/mail/mail-texts.js";
import { type Keyed, recordRequest } from "../../resources/repeated-request.js";
import { findResource } from "../../resources/resource.table.js";
import { timeText } from "../../time-text.js";
import { members } from "../../workspaces/member.table.js";
import { recordDelivery } from "../intake/record-delivery.js";
import { pollCounters } from "../work-counters.js";
import type { PollAnswer, SetCursor } from "./poll.messages.js";

/** The transitions of a poll. `poll.machine.ts` lists when each transition runs. */

/** The name of the wake-up for the next request. */
const DUE = "due";
/** Timeout of a poll's request, in milliseconds. */
const POLL_TIMEOUT_MS = 30_000;
/** Maximum number of owners who get a mail. */
const MAX_NOTIFIED_OWNERS = 20;

const UNLINKED: PollResult = {
  success: false,
  code: "not-connected",
  reason: "the team's account is not connected",
};

export interface PollContext {
  /** The id of the running request's effect; null if no request runs. */
  readonly askId: string | null;
  /** The start of the current wait, in milliseconds since 1970. */
  readonly sinceMs: number;
  /** The earliest time for a request after a failure, as the host asked, in milliseconds since 1970. */
  readonly notBeforeMs: number;
  /** Whether a user set the cursor during the running request. */
  readonly isCursorSet: boolean;
}

/** A poll as the definition describes it. */
export interface SetPoll {
  readonly integrationId: string;
  readonly integration: string;
  readonly teamId: string;
  readonly everyMs: number;
}

/** The result of a request, or why no request could be sent. */
export type PollResult = Partial<IntegrationRequestResult> &
  Pick<IntegrationRequestResult, "success" | "code" | "reason">;

interface OfPoll extends InTurn {
  readonly set: SetPoll;
}

/** Returns the poll's row, or a new row if none is stored. */
function pollRow(turn: Turn): PollRow {
  const { partition, id: integrationId } = turn.self;
  const row = polls.get(turn, partition, integrationId);
  const nothing = { lastAt: null, lastStatus: null, nextAt: null, failures: 0, problem: null };
  return row ?? { integrationId, state: "off", cursor: "", ...nothing };
}

function put(turn: Turn, change: Partial<PollRow>): PollRow {
  const { partition, id } = turn.self;
  const row = { ...pollRow(turn), ...change };
  polls.put(turn, partition, polls.get(turn, partition, id) ?? null, row);
  return row;
}

/** Stores the change in the poll's row, and sets the wake-up for the next request to `atMs`. */
function rest(turn: Turn, atMs: number, change: Partial<PollRow>): void {
  turn.wake(DUE, atMs);
  put(turn, { ...change, state: "resting", nextAt: timeText(atMs) });
}

/** Starts a poll that was added to the definition. The first request runs within a minute, from the stored cursor. */
export function begin({ turn, set }: OfPoll): PollContext {
  const waitMs = firstWaitMs(turn.random());
  rest(turn, turn.now + waitMs, { failures: 0, problem: null });
  return { askId: null, sinceMs: turn.now + waitMs - set.everyMs, notBeforeMs: 0, isCursorSet: false };
}

/**
 * Applies a changed definition. After a success, the next request runs by the new interval. After a failure, it runs
 * within a minute, or later if the host asked for a longer wait. If the poll has not run yet, the time of its first
 * request does not change.
 */
export function restAgain({ turn, set }: OfPoll, context: PollContext): PollContext {
  const { failures, lastAt, nextAt } = pollRow(turn);
  if (lastAt === null && nextAt !== null) return context;
  // If the clock was set back, `sinceMs` may be in the future.
  const usualMs = Math.max(turn.now, Math.min(turn.now, context.sinceMs) + set.everyMs);
  rest(turn, failures > 0 ? Math.max(turn.now + firstWaitMs(turn.random()), context.notBeforeMs) : usualMs, {});
  return context;
}

/** Requests the changes since the cursor. */
export function ask({ turn, set }: OfPoll): PollContext {
  const { integrationId, teamId } = set;
  const askId = turn.newId("ask");
  const { cursor } = put(turn, { state: "asking", nextAt: null });
  turn.cancelWake(DUE);
  startIntegrationRequest(turn, askId, {
    teamId,
    integrationId,
    block: { kind: "poll" },
    values: JSON.stringify({ cursor }),
    after: null,
    actsAs: { kind: "team" },
    timeoutMs: POLL_TIMEOUT_MS,
    again: "after-a-crash",
    lane: "background",
  });
  return { askId, sinceMs: turn.now, notBeforeMs: 0, isCursorSet: false };
}

/**
 * Records the response as a delivery. The next request uses the response's cursor. If the response has no cursor, or a
 * user set the cursor during the request, the stored cursor stays.
 */
export function recordAnswer(
  { turn, set, result }: OfPoll & { readonly result: PollResult },
  context: PollContext,
): PollContext {
  const { integrationId, teamId, everyMs } = set;
  const before = pollRow(turn);
  turn.count(pollCounters.answered);
  const { body = "", headers = {}, cursor = null, cursorProblem = null, status = null } = result;
  recordDelivery(turn, {
    integrationId,
    teamId,
    source: "poll",
    block: "poll",
    key: null,
    headers,
    causes: [],
    redeliveryOf: null,
    cursor: before.cursor,
    body: Buffer.from(body),
  });
  const next = context.isCursorSet || cursor === null ? before.cursor : cursor;
  const of = { lastAt: timeText(turn.now), lastStatus: status, failures: 0, problem: null, cursorProblem };
  rest(turn, turn.now + everyMs, { ...of, cursor: next });
  return { askId: null, sinceMs: turn.now, notBeforeMs: 0, isCursorSet: false };
}

/**
 * Records a failure and schedules a retry. `result` is null when no request was sent because there is no connection.
 */
export function fail(turn: Turn, set: SetPoll, result: PollResult | null): PollContext {
  const { code, reason, status = null, retryAfterMs = null } = result ?? UNLINKED;
  const failures = pollRow(turn).failures + 1;
  turn.count(pollCounters.failed);
  const waitMs = failureWaitMs(set.everyMs, { failures, random: turn.random(), retryAfterMs });
  const problem = { code: code ?? "errored", reason: reason ?? "it went wrong" };
  rest(turn, turn.now + waitMs, { lastAt: timeText(turn.now), lastStatus: status, failures, problem });
  turn.report({
    name: "poll.failed",
    line: { level: "warn", message: "poll failing" },
    details: { integrationId: set.integrationId, teamId: set.teamId, code: problem.code, status, failures },
  });
  if (failures === POLL_FAILS_FROM) notifyOwners(turn, set, problem.reason);
  return { askId: null, sinceMs: turn.now, notBeforeMs: turn.now + (retryAfterMs ?? 0), isCursorSet: false };
}

/**
 * Sends one mail to each owner of the workspace, up to {@link MAX_NOTIFIED_OWNERS}. The owners get another mail only
 * for failures after a new success.
 */
function notifyOwners(turn: Turn, { integration }: SetPoll, reason: string): void {
  const { partition } = turn.self;
  const workspace = findResource(turn, partition, "workspace", partition)?.address ?? "";
  const owners = members.all(turn, partition, { role: "owner" }, { limit: MAX_NOTIFIED_OWNERS });
  for (const { email: to } of owners) {
    const mail = failingPollMail({ to, workspace, integration, reason, failures: POLL_FAILS_FROM });
    turn.start(MAIL_EFFECT.request(turn.newId("mail"), mail));
  }
}

/**
 * Stops a poll and switches it off. If `isGone` is set, the integration or its workspace no longer exists: removes the
 * poll's row with the cursor. Otherwise the cursor stays for a later poll of the integration.
 */
export function switchOff(turn: Turn, { askId }: PollContext, { isGone }: { readonly isGone: boolean }): PollContext {
  const { partition, id } = turn.self;
  const row = polls.get(turn, partition, id);
  if (askId !== null) turn.cancelEffect(askId);
  turn.cancelWake(DUE);
  if (row !== undefined && isGone) polls.remove(turn, partition, row);
  else if (row !== undefined) put(turn, { state: "off", nextAt: null });
  turn.stop();
  return { askId: null, sinceMs: 0, notBeforeMs: 0, isCursorSet: false };
}

export function setCursor(event: Delivered<SetCursor>, context: PollContext): PollContext {
  const poll = put(event.turn, { cursor: event.cursor, cursorProblem: null });
  event.turn.reply({ poll, replayed: false });
  return { ...context, isCursorSet: context.askId !== null };
}

/** Answers a request to poll now, and records its idempotency key. */
export function answerNow({ turn, idempotency }: Keyed & { readonly turn: Turn<PollAnswer> }): void {
  recordRequest(turn, { idempotency }, turn.self.id);
  turn.reply({ poll: pollRow(turn), replayed: false });
}

/** Answers a repeated request to poll now. */
export function answerAgain({ turn }: { readonly turn: Turn<PollAnswer> }): void {
  turn.reply({ poll: pollRow(turn), replayed: true });
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** The wait after a failure varies by up to this share, so that polls that failed together do not retry together. */
const SPREAD = 0.1;

/**
 * Returns the wait before the first poll, in milliseconds. Integrations that were saved together start at different
 * times within one minute. `random` is in [0, 1).
 */
export function firstWaitMs(random: number): number {
  return Math.floor(random * MINUTE_MS);
}

/**
 * Returns the wait after the `failures`-th consecutive failure, in milliseconds. The wait is `everyMs`, doubled with
 * each failure and varied by up to 10 %. It is at least `retryAfterMs`, and never more than one day.
 */
export function failureWaitMs(
  everyMs: number,
  {
    failures,
    random,
    retryAfterMs,
  }: { readonly failures: number; readonly random: number; readonly retryAfterMs: number | null },
): number {
  // At most 11 doublings: 2^11 minutes exceed one day.
  const doubled = everyMs * 2 ** Math.min(failures, 11);
  const spread = Math.round(doubled * (1 - SPREAD + 2 * SPREAD * random));
  return Math.min(DAY_MS, Math.max(spread, retryAfterMs ?? 0));
}
