/**
 * Resends the failed hook occurrences of a period, `hook-resender/<team id>`. The rate limit protects a receiver that
 * comes back after an outage. The actor skips an occurrence that already has a resend, unless that resend failed. So it
 * resends a period only once, even if the period is requested twice.
 *
 * | state   | moved by                                  | next    | also                                            |
 * |---------|-------------------------------------------|---------|-------------------------------------------------|
 * | idle    | hooks.resend                              | sending | wake-up at once                                 |
 * | sending | hooks.resend, below the limit             | sending | queues the period                               |
 * | sending | hooks.resend, at the limit of periods     | sending | refused                                         |
 * | sending | woken, more may be left                   | sending | fires up to 20; wake-up a second later          |
 * | sending | woken, no occurrence or period left       | idle    | fires the last ones; stops                      |
 */
import { createChart } from "../../runtime/cells/chart.js";
import { defineActor } from "../../runtime/cells/define-actor.js";
import type { Delivered, Turn, Woken } from "../../runtime/turns/turn.js";
import type { Refusal } from "../refusal.js";
import { type FireHook, hookOccurrenceRef } from "./hook-occurrence.messages.js";
import { hookResenderRef, type ResendFailed } from "./resend.messages.js";
import { listFailed, type ResendPeriod } from "./resend.queries.js";

interface ResendContext {
  /** The current period first. */
  readonly periods: readonly ResendPeriod[];
}

/** Maximum number of hook occurrences to resend per team and second. */
const SENT_A_SECOND = 20;
/** Maximum number of hook occurrences to scan per turn. */
const SCAN_LIMIT = 200;
/** Maximum number of queued periods per team. */
const MAX_PERIODS = 10;

const tooManyPeriods: Refusal = {
  refused: "conflict",
  detail: `${MAX_PERIODS} periods of the team are being sent again.`,
};

const { on, choose, machine } = createChart<ResendContext, ResendFailed | Woken>();

const hookResendMachine = machine({
  id: "hook-resender",
  context: { periods: [] },
  initial: "idle",
  states: {
    idle: { on: on("hooks.resend", "sending", addPeriod, ({ turn }) => turn.wake("next", turn.now)) },
    sending: {
      on: {
        ...choose(
          "hooks.resend",
          { when: (_event, { periods }) => periods.length < MAX_PERIODS, act: addPeriod },
          { act: ({ turn }) => turn.reply(tooManyPeriods) },
        ),
        ...choose(
          "woken",
          {
            when: ({ turn }, context) => remainingPeriods(turn, context).length === 0,
            to: "idle",
            act: [sendSome, ({ turn }) => turn.stop()],
          },
          { act: [sendSome, ({ turn }) => turn.wake("next", turn.now + 1_000)] },
        ),
      },
    },
  },
});

/** See the table above. */
export const hookResendActor = defineActor(hookResenderRef, { machine: hookResendMachine, version: 1 });

function addPeriod({ turn, period }: Delivered<ResendFailed>, { periods }: ResendContext): ResendContext {
  turn.reply(null);
  return { periods: [...periods, period] };
}

function nextFailed(turn: Turn, { periods: [period] }: ResendContext) {
  const team = { workspaceId: turn.self.partition, teamId: turn.self.id };
  return period === undefined
    ? { found: [], next: null }
    : listFailed(turn, team, period, { maxFound: SENT_A_SECOND, scanLimit: SCAN_LIMIT });
}

/**
 * Returns the periods that remain after this second. Of the first period only the part after the last scanned row
 * remains, or nothing if all its rows were scanned.
 */
function remainingPeriods(turn: Turn, context: ResendContext): readonly ResendPeriod[] {
  const [period, ...others] = context.periods;
  const { next } = nextFailed(turn, context);
  return period === undefined || next === null ? others : [{ ...period, after: next }, ...others];
}

/**
 * Resends the next occurrences, at most as many as the limit for one second. Returns the context with the remaining
 * periods.
 */
function sendSome({ turn }: Delivered<Woken>, context: ResendContext): ResendContext {
  for (const { id, hookId, work } of nextFailed(turn, context).found) {
    const fire: FireHook = { type: "hook.fire", hookId, work, resends: id };
    turn.send(hookOccurrenceRef(turn.self.partition, turn.newId("occ")), fire);
  }
  return { periods: remainingPeriods(turn, context) };
}
