/**
 * The OAuth links that a person began and has not finished, `link/<user id>` under the global partition. Only the hash
 * of the state that they bring back (RFC 6749, 10.12) is stored.
 *
 * 1. A state is valid once, for its person, in its session, for its purpose.
 * 2. It ends after ten minutes, or when the person has begun twenty more.
 *
 * | state   | moved by                                          | next    | also                                  |
 * |---------|---------------------------------------------------|---------|---------------------------------------|
 * | none    | link.begin                                        | waiting | stored                                |
 * | waiting | link.begin                                        | waiting | stored; drops the oldest of too many  |
 * | waiting | link.use with a live state of this session        | waiting | answered; removes the state           |
 * | waiting | the same, of the last one                         | (ended) | the same                              |
 * | either  | link.use with any other                           | same    | refused                               |
 * | waiting | woken `expire`                                    | waiting | removes expired states                |
 * | waiting | the same, when none is left                       | (ended) |                                       |
 */
import { assertEvent, assign, setup } from "xstate";
import { defineActor } from "../../runtime/define-actor.js";
import type { Delivered, Turn, Woken } from "../../runtime/turn.js";
import type { Refusal } from "../refusal.js";
import {
  type BeginOAuthState,
  type OAuthStateBegun,
  type OAuthStateTerms,
  oauthStateRef,
  type UseOAuthState,
} from "./oauth-state.messages.js";

interface Begun extends OAuthStateTerms {
  readonly stateHash: string;
  readonly sessionId: string;
  readonly expiresAtMs: number;
}

interface OAuthStateContext {
  /** Oldest first. */
  readonly begun: readonly Begun[];
}

type OAuthStateEvent = Delivered<BeginOAuthState | UseOAuthState | Woken>;

/** Lifetime of a state, in milliseconds. */
const STATE_LIFETIME_MS = 10 * 60 * 1_000;
/** States that one person may have at once. */
const MAX_BEGUN = 20;

const unknownState: Refusal = {
  refused: "conflict",
  detail: "This link was used already, is too old, or was not begun by you in this session: begin it again.",
};

const machine = setup({
  types: { context: {} as OAuthStateContext, events: {} as OAuthStateEvent },
  actions: {
    begin: assign(({ context, event }) => {
      assertEvent(event, "link.begin");
      return begin(context, event);
    }),
    refuse: assign(({ context, event }) => {
      assertEvent(event, "link.use");
      event.turn.reply(unknownState);
      // What was refused as too old is gone, whatever the clock says later.
      return context.begun.some(({ expiresAtMs }) => expiresAtMs <= event.turn.now)
        ? expire(context.begun, event.turn)
        : context;
    }),
    stopWhenEmpty: ({ context, event }) => {
      if (context.begun.length === 0) event.turn.stop();
    },
  },
}).createMachine({
  id: "link",
  context: { begun: [] },
  initial: "none",
  states: {
    none: {
      on: {
        "link.begin": { target: "waiting", actions: "begin" },
        "link.use": { target: "none", actions: ["refuse", "stopWhenEmpty"] },
      },
    },
    waiting: {
      on: {
        "link.begin": { target: "waiting", actions: "begin" },
        "link.use": [
          {
            guard: ({ context, event }) => findState(context, event) !== undefined,
            target: "waiting",
            actions: [assign(({ context, event }) => use(context, event)), "stopWhenEmpty"],
          },
          { target: "waiting", actions: "refuse" },
        ],
        woken: {
          target: "waiting",
          actions: [assign(({ context, event }) => expire(context.begun, event.turn)), "stopWhenEmpty"],
        },
      },
    },
  },
});

/** See the table above. */
export const oauthStateActor = defineActor(oauthStateRef, { machine, version: 1 });

function begin({ begun }: OAuthStateContext, event: Delivered<BeginOAuthState>): OAuthStateContext {
  const { turn, purpose, subject, sealed, stateHash, sessionId } = event;
  const expiresAtMs = turn.now + STATE_LIFETIME_MS;
  const answer: OAuthStateBegun = { expiresAtMs };
  turn.reply(answer);
  const all = [...begun, { purpose, subject, sealed, stateHash, sessionId, expiresAtMs }];
  return expire(all.slice(-MAX_BEGUN), turn);
}

function use({ begun }: OAuthStateContext, event: Delivered<UseOAuthState>): OAuthStateContext {
  const { turn, stateHash } = event;
  const found = findState({ begun }, event);
  if (found !== undefined) {
    const { purpose, subject, sealed } = found;
    const terms: OAuthStateTerms = { purpose, subject, sealed };
    turn.reply(terms);
  }
  return { begun: begun.filter((one) => one.stateHash !== stateHash) };
}

function findState({ begun }: OAuthStateContext, event: Delivered<UseOAuthState>): Begun | undefined {
  return begun.find(
    ({ stateHash, sessionId, purpose, expiresAtMs }) =>
      stateHash === event.stateHash &&
      sessionId === event.sessionId &&
      purpose === event.purpose &&
      expiresAtMs > event.turn.now,
  );
}

/** Removes expired states and sets the wake-up for the next one. */
function expire(begun: readonly Begun[], turn: Turn): OAuthStateContext {
  const live = begun.filter(({ expiresAtMs }) => expiresAtMs > turn.now);
  const [first] = live;
  if (first !== undefined) turn.wake("expire", first.expiresAtMs);
  return { begun: live };
}
