/**
 * The invite of one mail address to one workspace, `invite/<address>` in the workspace's partition
 * (configuration API, Invite).
 *
 * | state    | moved by                       | condition             | next     | also                               |
 * |----------|--------------------------------|-----------------------|----------|------------------------------------|
 * | any      | invite.send                    | a member's address    | same     | nothing is sent                    |
 * | none     | invite.send                    |                       | open     | mail, link, 14 days                |
 * | open     | invite.send                    |                       | open     | new link, role, teams, 14 days     |
 * | open     | invite.resend                  |                       | open     | new link, 14 days                  |
 * | open     | invite.accept                  | 14 days have passed   | expired  | refused                            |
 * | open     | invite.accept                  | by the invited person | accepted | they are in the workspace          |
 * | open     | invite.accept                  | by someone else       | open     | refused                            |
 * | open     | invite.revoke                  |                       | revoked  | the link stops working             |
 * | open     | woken `expire`                 | 14 days have passed   | expired  |                                    |
 * | open     | effect.ended                   |                       | open     | whether the mail went out is noted |
 * | expired  | invite.send, .resend, .revoke  |                       |          | as from open                       |
 * | expired  | invite.accept                  |                       | expired  | refused                            |
 * | expired  | effect.ended                   |                       | expired  | as in open                         |
 * | revoked  | invite.send                    |                       | open     | a new invite                       |
 * | revoked  | invite.revoke                  |                       | revoked  | no change                          |
 * | revoked  | invite.resend, .accept         |                       | revoked  | refused                            |
 * | accepted | invite.send                    |                       | open     | a new invite                       |
 * | accepted | invite.resend, .accept, .revoke|                       | accepted | refused                            |
 *
 * An id or a link of an earlier invite, or an earlier link, is `not-found` in every state.
 */
import { assign, setup } from "xstate";
import type { ActorType } from "../../runtime/actor-type.js";
import type { Delivered, EffectEnded, Woken } from "../../runtime/turn.js";
import { findMemberByEmail } from "../workspaces/member.table.js";
import type { InviteMessage } from "./invite.messages.js";
import type { InviteRow } from "./invite.table.js";
import {
  acceptInvite,
  closeInvite,
  mayAccept,
  recordMailOutcome,
  sendInvite,
  toRefusal,
} from "./invite.transitions.js";

/** What is kept of an invite between turns. */
export interface InviteContext {
  readonly email: string;
  readonly invite: InviteRow | null;
}

export type InviteEvent = Delivered<InviteMessage> | Delivered<Woken> | Delivered<EffectEnded>;

const machine = setup({
  types: { context: {} as InviteContext, events: {} as InviteEvent, input: {} as { readonly id: string } },
  guards: {
    isMember: ({ context, event }) =>
      findMemberByEmail(event.turn, event.turn.self.partition, context.email) !== undefined,
    isOther: ({ context, event }) => isOther(context, event),
    isOver: ({ context, event }) => (context.invite?.expiresAtMs ?? 0) <= event.turn.now,
    mayAccept: ({ context, event }) => event.type === "invite.accept" && mayAccept(context, event),
  },
  actions: {
    send: assign(({ context, event }) => sendInvite(context, event)),
    accept: assign(({ context, event }) => acceptInvite(context, event)),
    expire: assign(({ context, event }) => closeInvite(context, event, "expired")),
    revoke: assign(({ context, event }) => closeInvite(context, event, "revoked")),
    noteMail: assign(({ context, event }) => recordMailOutcome(context, event)),
    skipMember: ({ event }) => event.turn.reply(null),
    refuse: ({ context, event }) => event.turn.reply(toRefusal(context, event)),
  },
}).createMachine({
  id: "invite",
  context: ({ input }) => ({ email: input.id, invite: null }),
  initial: "none",
  states: {
    none: {
      on: {
        "invite.send": [
          { guard: "isMember", target: "none", actions: "skipMember" },
          { target: "open", actions: "send" },
        ],
      },
    },
    open: {
      on: {
        "invite.send": [
          { guard: "isMember", target: "open", actions: "skipMember" },
          { target: "open", actions: "send" },
        ],
        "invite.resend": [
          { guard: "isOther", target: "open", actions: "refuse" },
          { target: "open", actions: "send" },
        ],
        "invite.accept": [
          { guard: "isOther", target: "open", actions: "refuse" },
          { guard: "isOver", target: "expired", actions: ["expire", "refuse"] },
          { guard: "mayAccept", target: "accepted", actions: "accept" },
          { target: "open", actions: "refuse" },
        ],
        "invite.revoke": [
          { guard: "isOther", target: "open", actions: "refuse" },
          { target: "revoked", actions: "revoke" },
        ],
        woken: [{ guard: "isOver", target: "expired", actions: "expire" }, { target: "open" }],
        "effect.ended": { target: "open", actions: "noteMail" },
      },
    },
    expired: {
      on: {
        "invite.send": [
          { guard: "isMember", target: "expired", actions: "skipMember" },
          { target: "open", actions: "send" },
        ],
        "invite.resend": [
          { guard: "isOther", target: "expired", actions: "refuse" },
          { target: "open", actions: "send" },
        ],
        "invite.accept": { target: "expired", actions: "refuse" },
        "invite.revoke": [
          { guard: "isOther", target: "expired", actions: "refuse" },
          { target: "revoked", actions: "revoke" },
        ],
        "effect.ended": { target: "expired", actions: "noteMail" },
      },
    },
    revoked: {
      on: {
        "invite.send": [
          { guard: "isMember", target: "revoked", actions: "skipMember" },
          { target: "open", actions: "send" },
        ],
        "invite.resend": { target: "revoked", actions: "refuse" },
        "invite.accept": { target: "revoked", actions: "refuse" },
        "invite.revoke": [{ guard: "isOther", target: "revoked", actions: "refuse" }, { target: "revoked" }],
      },
    },
    accepted: {
      on: {
        "invite.send": [
          { guard: "isMember", target: "accepted", actions: "skipMember" },
          { target: "open", actions: "send" },
        ],
        "invite.resend": { target: "accepted", actions: "refuse" },
        "invite.accept": { target: "accepted", actions: "refuse" },
        "invite.revoke": { target: "accepted", actions: "refuse" },
      },
    },
  },
});

/** See the table above. */
export const inviteActor: ActorType = { kind: "invite", machine, version: 1 };

/** Whether the message is about an earlier invite of the address, or an earlier link of this one. */
function isOther({ invite }: InviteContext, event: InviteEvent): boolean {
  if (event.type === "invite.resend" || event.type === "invite.revoke") return event.inviteId !== invite?.inviteId;
  return event.type === "invite.accept" && event.tokenHash !== invite?.linkHash;
}
