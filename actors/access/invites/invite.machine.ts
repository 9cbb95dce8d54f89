/**
 * The invite of one mail address to one workspace, `invite/<address>` in the workspace's partition (configuration API,
 * Invite).
 *
 * | state    | moved by                                                     | next     | also                         |
 * |----------|--------------------------------------------------------------|----------|------------------------------|
 * | any      | send.skipped (invite.send to a member's address)             | same     | sends nothing                |
 * | none,    | send.taken (invite.send otherwise)                           | open     | mail, link, 14 days          |
 * | revoked, |                                                              |          |                              |
 * | accepted |                                                              |          |                              |
 * | open,    | send.taken                                                   | open     | new link, role, teams,       |
 * | expired  |                                                              |          | 14 days                      |
 * | open,    | resend.taken (invite.resend)                                 | open     | new link, 14 days            |
 * | expired  |                                                              |          |                              |
 * | open     | accept.late (invite.accept, 14 days have passed)             | expired  | refused                      |
 * | open     | accept.taken (invite.accept by the invited person)           | accepted | adds them to the workspace   |
 * | open,    | revoke.taken (invite.revoke)                                 | revoked  | the link stops working       |
 * | expired  |                                                              |          |                              |
 * | revoked  | revoke.taken                                                 | revoked  |                              |
 * | open     | expiry.due (woken `expire`, 14 days have passed)             | expired  |                              |
 * | open     | expiry.early (woken `expire`, resent since then)             | open     |                              |
 * | open,    | mail.ended (effect.ended)                                    | same     | records the result           |
 * | expired  |                                                              |          |                              |
 * | open,    | effect.ended, of an earlier invite                           | same     |                              |
 * | expired  |                                                              |          |                              |
 * | any but  | invite.forget                                                | (ended)  | removes its row              |
 * | none and |                                                              |          |                              |
 * | open     |                                                              |          |                              |
 * | any but  | resend.refused, accept.refused, revoke.refused               | same     | refused                      |
 * | none     |                                                              |          |                              |
 *
 * The id or link of an earlier invite is `not-found` in every state, and so is an earlier link of this invite.
 */
import { createChart, toEvent } from "../../../runtime/cells/chart.js";
import { defineActor } from "../../../runtime/cells/define-actor.js";
import { isEffectResult } from "../../../runtime/effects/effect-type.js";
import type { EffectEnded, TurnReading, Woken } from "../../../runtime/turns/turn.js";
import { MAIL_EFFECT } from "../../outbound/mail/mail.effects.js";
import { answerRefusal, type Refusal, toRefused } from "../../refusal.js";
import { findResource } from "../../resources/resource.table.js";
import { findMemberByEmail } from "../../workspaces/member.table.js";
import type { InviteRow } from "./invite.js";
import {
  type AcceptInvite,
  type InviteMessage,
  inviteRef,
  type ResendInvite,
  type RevokeInvite,
  type SendInvite,
} from "./invite.messages.js";
import {
  acceptInvite,
  expireInvite,
  forgetInvite,
  type InviteContext,
  recordMailOutcome,
  revokeInvite,
  sendInvite,
} from "./invite.transitions.js";

const { on, machine } = createChart<InviteContext, ReturnType<typeof classifyInvite>>();

/** Transitions of every state with an invite. */
const existing = {
  ...on("send.skipped", ({ turn }) => turn.reply(null)),
  ...on("send.taken", "open", sendInvite),
  ...on("resend.refused", answerRefusal),
  ...on("accept.refused", answerRefusal),
  ...on("revoke.refused", answerRefusal),
};

/** Transitions of an open or expired invite. */
const pending = {
  ...existing,
  ...on("resend.taken", "open", sendInvite),
  ...on("revoke.taken", "revoked", revokeInvite),
  ...on("mail.ended", recordMailOutcome),
  ...on("effect.ended"),
};

const forgotten = on("invite.forget", forgetInvite);

const inviteMachine = machine({
  id: "invite",
  context: ({ input }) => ({ email: input.id, invite: null }),
  initial: "none",
  states: {
    none: { on: { ...on("send.skipped", ({ turn }) => turn.reply(null)), ...on("send.taken", "open", sendInvite) } },
    open: {
      on: {
        ...pending,
        ...on("accept.taken", "accepted", acceptInvite),
        ...on("accept.late", "expired", expireInvite, answerRefusal),
        ...on("expiry.due", "expired", expireInvite),
        ...on("expiry.early"),
      },
    },
    expired: { on: { ...pending, ...forgotten } },
    revoked: { on: { ...existing, ...on("revoke.taken"), ...forgotten } },
    accepted: { on: { ...existing, ...forgotten } },
  },
});

/** See the table above. */
export const inviteActor = defineActor(inviteRef, { machine: inviteMachine, classify: classifyInvite, version: 1 });

/** Classifies each message to an invite as an event of its machine. Only reads. */
function classifyInvite(
  message: InviteMessage | EffectEnded | Woken,
  { context }: { readonly context: InviteContext },
  turn: TurnReading,
) {
  const { email, invite } = context;
  switch (message.type) {
    case "invite.send":
      return classifySend(message, email, turn);
    case "invite.resend":
      return classifyResend(message, invite);
    case "invite.accept":
      return classifyAccept(message, context, turn);
    case "invite.revoke":
      return classifyRevoke(message, invite);
    case "woken":
      return invite !== null && invite.expiresAtMs <= turn.now
        ? toEvent("expiry.due", { invite })
        : toEvent("expiry.early");
    case "effect.ended":
      if (!isEffectResult(MAIL_EFFECT, message) || message.id !== invite?.mailId) return message;
      return toEvent("mail.ended", { invite, isSent: message.result.ok });
    // Passes on `invite.forget`, and messages of unknown types. No transition handles messages of unknown types.
    default:
      return message;
  }
}

function classifySend(message: SendInvite, email: string, turn: TurnReading) {
  const isMember = findMemberByEmail(turn, turn.self.partition, email) !== undefined;
  if (isMember) return toEvent("send.skipped", message);
  const { role, teams, by: invitedBy } = message;
  return toEvent("send.taken", { ...message, terms: { role, teams, invitedBy } });
}

function classifyResend(message: ResendInvite, invite: InviteRow | null) {
  if (message.inviteId !== invite?.inviteId) return toRefused("resend.refused", nothing);
  if (invite.state === "open" || invite.state === "expired") {
    return toEvent("resend.taken", { ...message, terms: invite });
  }
  const detail = `This invite was ${invite.state}; only an open or expired invite can be sent again.`;
  return toRefused("resend.refused", conflict(detail));
}

function classifyAccept(message: AcceptInvite, { email: invited, invite }: InviteContext, turn: TurnReading) {
  if (invite === null || message.tokenHash !== invite.linkHash || invite.state === "revoked") {
    return toRefused("accept.refused", nothing);
  }
  const isOpen = findResource(turn, turn.self.partition, "workspace", turn.self.partition) !== undefined;
  if (invite.state === "open" && invite.expiresAtMs <= turn.now) {
    return { ...toRefused("accept.late", isOpen ? expired : nothing), invite };
  }
  if (!isOpen) return toRefused("accept.refused", nothing);
  if (invite.state === "expired") return toRefused("accept.refused", expired);
  if (invite.state === "accepted") return toRefused("accept.refused", conflict("This invite was accepted already."));
  return message.email === invited
    ? toEvent("accept.taken", { ...message, invite })
    : toRefused("accept.refused", notYours);
}

function classifyRevoke({ inviteId }: RevokeInvite, invite: InviteRow | null) {
  if (inviteId !== invite?.inviteId) return toRefused("revoke.refused", nothing);
  return invite.state === "accepted"
    ? toRefused("revoke.refused", conflict("An accepted invite cannot be revoked."))
    : toEvent("revoke.taken", { invite });
}

const nothing: Refusal = { refused: "not-found" };
const expired = conflict("This invite has expired. Ask for a new one.");
const notYours: Refusal = {
  refused: "forbidden",
  title: "Not your invite",
  detail: "This invite is for another address: sign in with the address it was sent to.",
};

function conflict(detail: string): Refusal {
  return { refused: "conflict", detail };
}
