/**
 * The invite of one mail address to one workspace, `invite/<address>` in the workspace's partition
 * (configuration API, Invite).
 *
 * | state    | moved by                                                     | next     | also                         |
 * |----------|--------------------------------------------------------------|----------|------------------------------|
 * | any      | send.skipped (invite.send to a member's address)             | same     | sends nothing                |
 * | none,    | send.taken (invite.send otherwise)                           | open     | mail, link, 14 days          |
 * | revoked, |                                                              |          |                              |
 * | accepted |                                                              |          |                              |
 * | open,    | the same                                                     | open     | new link, role, teams,       |
 * | expired  |                                                              |          | 14 days                      |
 * | open,    | resend.taken (invite.resend)                                 | open     | new link, 14 days            |
 * | expired  |                                                              |          |                              |
 * | open     | accept.late (invite.accept, 14 days have passed)             | expired  | refused                      |
 * | open     | accept.taken (invite.accept by the invited person)           | accepted | they are in the workspace    |
 * | open,    | revoke.taken (invite.revoke)                                 | revoked  | the link stops working       |
 * | expired  |                                                              |          |                              |
 * | revoked  | the same                                                     | revoked  |                              |
 * | open     | expiry.due (woken `expire`, 14 days have passed)             | expired  |                              |
 * | open     | expiry.early (woken `expire`, sent again meanwhile)          | open     |                              |
 * | open,    | mail.ended (effect.ended)                                    | same     | records the result           |
 * | expired  |                                                              |          |                              |
 * | open,    | effect.ended, of an earlier invite                           | same     |                              |
 * | expired  |                                                              |          |                              |
 * | any but  | invite.forget                                                | (ended)  | its row goes                 |
 * | none and |                                                              |          |                              |
 * | open     |                                                              |          |                              |
 * | any but  | resend.refused, accept.refused, revoke.refused               | same     | refused                      |
 * | none     |                                                              |          |                              |
 *
 * An id or a link of an earlier invite, or an earlier link, is `not-found` in every state.
 */
import { assertEvent, assign, setup } from "xstate";
import { defineActor } from "../../runtime/define-actor.js";
import type { Delivered } from "../../runtime/turn.js";
import { classifyInvite, type InviteContext, type InviteEvent } from "./classify-invite.js";
import { inviteRef } from "./invite.messages.js";
import {
  acceptInvite,
  expireInvite,
  forgetInvite,
  recordMailOutcome,
  revokeInvite,
  sendInvite,
} from "./invite.transitions.js";

/** Requests to an invite that are refused. */
function refusalTransitions<State extends string>(state: State) {
  return {
    "send.skipped": { target: state, actions: "skipMember" },
    "resend.refused": { target: state, actions: "refuse" },
    "accept.refused": { target: state, actions: "refuse" },
    "revoke.refused": { target: state, actions: "refuse" },
  } as const;
}

/** What happens to an invite that nobody has accepted yet. */
function pendingTransitions<State extends string>(state: State) {
  return {
    ...refusalTransitions(state),
    "send.taken": { target: "open", actions: "send" },
    "resend.taken": { target: "open", actions: "send" },
    "revoke.taken": { target: "revoked", actions: "revoke" },
    "mail.ended": { target: state, actions: "recordMail" },
    "effect.ended": { target: state },
  } as const;
}

const machine = setup({
  types: {
    context: {} as InviteContext,
    events: {} as Delivered<InviteEvent>,
    input: {} as { readonly id: string },
  },
  actions: {
    send: assign(({ context, event }) => {
      assertEvent(event, ["send.taken", "resend.taken"]);
      return sendInvite(context, event);
    }),
    revoke: assign(({ context, event }) => {
      assertEvent(event, "revoke.taken");
      return revokeInvite(context, event);
    }),
    expire: assign(({ context, event }) => {
      assertEvent(event, ["accept.late", "expiry.due"]);
      return expireInvite(context, event);
    }),
    recordMail: assign(({ context, event }) => {
      assertEvent(event, "mail.ended");
      return recordMailOutcome(context, event);
    }),
    forget: ({ context, event }) => forgetInvite(context, event.turn),
    skipMember: ({ event }) => {
      assertEvent(event, "send.skipped");
      event.turn.reply(null);
    },
    refuse: ({ event }) => {
      assertEvent(event, ["resend.refused", "accept.refused", "accept.late", "revoke.refused"]);
      event.turn.reply(event.refusal);
    },
  },
}).createMachine({
  id: "invite",
  context: ({ input }) => ({ email: input.id, invite: null }),
  initial: "none",
  states: {
    none: {
      on: {
        "send.skipped": { target: "none", actions: "skipMember" },
        "send.taken": { target: "open", actions: "send" },
      },
    },
    open: {
      on: {
        ...pendingTransitions("open"),
        "accept.taken": { target: "accepted", actions: assign(({ context, event }) => acceptInvite(context, event)) },
        "accept.late": { target: "expired", actions: ["expire", "refuse"] },
        "expiry.due": { target: "expired", actions: "expire" },
        "expiry.early": { target: "open" },
      },
    },
    expired: { on: { ...pendingTransitions("expired"), "invite.forget": { target: "expired", actions: "forget" } } },
    revoked: {
      on: {
        ...refusalTransitions("revoked"),
        "send.taken": { target: "open", actions: "send" },
        "revoke.taken": { target: "revoked" },
        "invite.forget": { target: "revoked", actions: "forget" },
      },
    },
    accepted: {
      on: {
        ...refusalTransitions("accepted"),
        "send.taken": { target: "open", actions: "send" },
        "invite.forget": { target: "accepted", actions: "forget" },
      },
    },
  },
});

/** See the table above. */
export const inviteActor = defineActor(inviteRef, { machine, classify: classifyInvite, version: 1 });
