/**
 * The unfinished OAuth links of a user, `link/<user id>` in the global partition. Only the hash of the `state`
 * parameter (RFC 6749, 10.12) is stored.
 *
 * 1. A state is valid once, for its user, session and purpose.
 * 2. A state expires after 10 minutes, or when the user has started 20 more links.
 *
 * | state   | moved by                                          | next    | also                                  |
 * |---------|---------------------------------------------------|---------|---------------------------------------|
 * | none    | link.begin                                        | waiting | stored                                |
 * | none    | link.use                                          | (ended) | refused                               |
 * | waiting | link.begin                                        | waiting | stored; drops the oldest above 20     |
 * | waiting | link.use with a live state of this session        | waiting | answered; removes the state           |
 * | waiting | link.use with the last live state                 | (ended) | answered; removes the state           |
 * | waiting | link.use with any other state                     | waiting | refused                               |
 * | waiting | woken `expire`                                    | waiting | removes expired states                |
 * | waiting | woken `expire`, no state left                     | (ended) |                                       |
 */
import { createChart, type InTurn } from "../../../runtime/cells/chart.js";
import { defineActor } from "../../../runtime/cells/define-actor.js";
import type { Delivered, Turn, Woken } from "../../../runtime/turns/turn.js";
import type { Refusal } from "../../refusal.js";
import {
  type BeginOAuthState,
  type OAuthStateStarted,
  type OAuthStateTerms,
  oauthStateRef,
  type UseOAuthState,
} from "./oauth-state.messages.js";

interface StartedState extends OAuthStateTerms {
  readonly stateHash: string;
  readonly sessionId: string;
  readonly expiresAtMs: number;
}

interface OAuthStateContext {
  /** The unfinished links, oldest first. */
  readonly begun: readonly StartedState[];
}

/** Lifetime of a state, in milliseconds. */
const STATE_LIFETIME_MS = 10 * 60 * 1_000;
/** Maximum number of states per user. */
const MAX_STARTED = 20;

const unknownState: Refusal = {
  refused: "conflict",
  detail: "This link was already used, has expired, or was not started by you in this session. Start again.",
};

const { on, choose, machine } = createChart<OAuthStateContext, BeginOAuthState | UseOAuthState | Woken>();

const oauthStateMachine = machine({
  id: "link",
  context: { begun: [] },
  initial: "none",
  states: {
    none: {
      on: {
        ...on("link.begin", "waiting", begin),
        ...on("link.use", refuse, stopWhenEmpty),
      },
    },
    waiting: {
      on: {
        ...on("link.begin", begin),
        ...choose(
          "link.use",
          { when: (event, context) => findState(event, context) !== undefined, act: [use, stopWhenEmpty] },
          { act: refuse },
        ),
        ...on("woken", ({ turn }, { begun }) => expire(begun, turn), stopWhenEmpty),
      },
    },
  },
});

/** See the table above. */
export const oauthStateActor = defineActor(oauthStateRef, { machine: oauthStateMachine, version: 1 });

function begin(event: Delivered<BeginOAuthState>, { begun }: OAuthStateContext): OAuthStateContext {
  const { turn, purpose, subject, sealed, stateHash, sessionId } = event;
  const expiresAtMs = turn.now + STATE_LIFETIME_MS;
  const answer: OAuthStateStarted = { expiresAtMs };
  turn.reply(answer);
  const all = [...begun, { purpose, subject, sealed, stateHash, sessionId, expiresAtMs }];
  return expire(all.slice(-MAX_STARTED), turn);
}

function use(event: Delivered<UseOAuthState>, { begun }: OAuthStateContext): OAuthStateContext {
  const { turn, stateHash } = event;
  const found = findState(event, { begun });
  if (found !== undefined) {
    const { purpose, subject, sealed } = found;
    const terms: OAuthStateTerms = { purpose, subject, sealed };
    turn.reply(terms);
  }
  return { begun: begun.filter((one) => one.stateHash !== stateHash) };
}

function findState(event: Delivered<UseOAuthState>, { begun }: OAuthStateContext): StartedState | undefined {
  return begun.find(
    ({ stateHash, sessionId, purpose, expiresAtMs }) =>
      stateHash === event.stateHash &&
      sessionId === event.sessionId &&
      purpose === event.purpose &&
      expiresAtMs > event.turn.now,
  );
}

/** Refuses an invalid state. Expired states are also removed, so that they stay invalid if the clock is set back. */
function refuse({ turn }: Delivered<UseOAuthState>, context: OAuthStateContext): OAuthStateContext {
  turn.reply(unknownState);
  return context.begun.some(({ expiresAtMs }) => expiresAtMs <= turn.now) ? expire(context.begun, turn) : context;
}

function stopWhenEmpty({ turn }: InTurn, { begun }: OAuthStateContext): void {
  if (begun.length === 0) turn.stop();
}

/** Removes expired states and sets the wake-up for the next expiry. */
function expire(begun: readonly StartedState[], turn: Turn): OAuthStateContext {
  const live = begun.filter(({ expiresAtMs }) => expiresAtMs > turn.now);
  const [first] = live;
  if (first !== undefined) turn.wake("expire", first.expiresAtMs);
  return { begun: live };
}
