/**
 * What a person went elsewhere to link and has not come back from, `link/<user id>` under the global partition. The
 * state that they are to bring back (RFC 6749, 10.12) is kept as its hash alone.
 *
 * 1. A state admits the person it was made for, in the session it was made in, for what it was made for: once.
 * 2. It is over after ten minutes, and when the person has begun twenty more.
 *
 * | state   | moved by                                          | next    | also                                  |
 * |---------|---------------------------------------------------|---------|---------------------------------------|
 * | none    | link.begin                                        | waiting | kept                                  |
 * | waiting | link.begin                                        | waiting | kept; the oldest of too many goes     |
 * | waiting | link.use with a live state of this session        | waiting | answered with what was begun; it goes |
 * | waiting | the same, of the last one                         | (ended) | the same                              |
 * | either  | link.use with any other                           | same    | refused                               |
 * | waiting | woken `expire`                                    | waiting | what is over goes                     |
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

/** How long a person may be away, in milliseconds. */
const STATE_LIFETIME_MS = 10 * 60 * 1_000;
/** What one person may have begun at once. */
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
    refuse: ({ event }) => event.turn.reply(unknownState),
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

/** Takes away what is over and has itself woken when the next will be. */
function expire(begun: readonly Begun[], turn: Turn): OAuthStateContext {
  const live = begun.filter(({ expiresAtMs }) => expiresAtMs > turn.now);
  const [first] = live;
  if (first !== undefined) turn.wake("expire", first.expiresAtMs);
  return { begun: live };
}
