/**
 * Sends again what failed in a period, `hook-resender/<team id>`, so many a second: a receiver that was down for an
 * hour is not knocked over when it comes back. What was sent again and has not failed anew is left alone, so a period
 * that is asked for twice is sent once.
 *
 * | state   | moved by                                  | next    | also                                            |
 * |---------|-------------------------------------------|---------|-------------------------------------------------|
 * | idle    | hooks.resend                              | sending | wake-up at once                                 |
 * | sending | hooks.resend, few wait                    | sending | waits its turn                                  |
 * | sending | hooks.resend, too many wait               | sending | refused                                         |
 * | sending | woken, more may be left                   | sending | up to 20 are fired; wake-up a second later      |
 * | sending | woken, nothing is left and none waits     | idle    | the last ones are fired; stops                  |
 */
import { assertEvent, assign, setup } from "xstate";
import { defineActor } from "../../runtime/define-actor.js";
import type { Delivered, Turn, Woken } from "../../runtime/turn.js";
import type { Refusal } from "../refusal.js";
import { type FireHook, hookOccurrenceRef } from "./hook-occurrence.messages.js";
import { hookResenderRef, type ResendFailed } from "./resend.messages.js";
import { listFailed, type ResendPeriod } from "./resend.queries.js";

interface ResendContext {
  /** The one under way first. */
  readonly periods: readonly ResendPeriod[];
}

/** How many are sent again in a second. */
const SENT_A_SECOND = 20;
/** Firings looked at in one turn. */
const SCAN_LIMIT = 200;
/** How many periods one team may ask for before the first is done. */
const MAX_PERIODS = 10;

const tooManyPeriods: Refusal = {
  refused: "conflict",
  detail: `${MAX_PERIODS} periods of the team are being sent again.`,
};

type ResendEvent = Delivered<ResendFailed | Woken>;

const machine = setup({
  types: { context: {} as ResendContext, events: {} as ResendEvent },
  guards: {
    mayWait: ({ context }) => context.periods.length < MAX_PERIODS,
    isLast: ({ context, event }) => remainingPeriods(event.turn, context).length === 0,
  },
  actions: {
    take: assign(({ context, event }) => {
      assertEvent(event, "hooks.resend");
      return addPeriod(event, context);
    }),
    refuse: ({ event }) => event.turn.reply(tooManyPeriods),
    begin: ({ event }) => event.turn.wake("next", event.turn.now),
    send: assign(({ context, event }) => {
      sendSome(event.turn, context);
      return { periods: remainingPeriods(event.turn, context) };
    }),
    goOn: ({ event }) => event.turn.wake("next", event.turn.now + 1_000),
    stop: ({ event }) => event.turn.stop(),
  },
}).createMachine({
  id: "hook-resender",
  context: { periods: [] },
  initial: "idle",
  states: {
    idle: { on: { "hooks.resend": { target: "sending", actions: ["take", "begin"] } } },
    sending: {
      on: {
        "hooks.resend": [
          { guard: "mayWait", target: "sending", actions: "take" },
          { target: "sending", actions: "refuse" },
        ],
        woken: [
          { guard: "isLast", target: "idle", actions: ["send", "stop"] },
          { target: "sending", actions: ["send", "goOn"] },
        ],
      },
    },
  },
});

/** See the table above. */
export const hookResendActor = defineActor(hookResenderRef, { machine, version: 1 });

function addPeriod({ turn, period }: Delivered<ResendFailed>, { periods }: ResendContext): ResendContext {
  turn.reply(null);
  return { periods: [...periods, period] };
}

function nextFailed(turn: Turn, { periods: [period] }: ResendContext) {
  const team = { workspaceId: turn.self.partition, teamId: turn.self.id };
  return period === undefined
    ? { found: [], next: null }
    : listFailed(turn, team, period, { most: SENT_A_SECOND, looks: SCAN_LIMIT });
}

/** The periods as they are after this second's: the first goes on behind what was looked at, or is done. */
function remainingPeriods(turn: Turn, context: ResendContext): readonly ResendPeriod[] {
  const [period, ...others] = context.periods;
  const { next } = nextFailed(turn, context);
  return period === undefined || next === null ? others : [{ ...period, after: next }, ...others];
}

function sendSome(turn: Turn, context: ResendContext): void {
  for (const { id, hookId, work } of nextFailed(turn, context).found) {
    const fire: FireHook = { type: "hook.fire", hookId, work, resends: id };
    turn.send(hookOccurrenceRef(turn.self.partition, turn.newId("occ")), fire);
  }
}
