import type { Delivered, Turn } from "../../runtime/turn.js";
import { MAIL_EFFECT } from "../outbound/mail.effects.js";
import { admitMember } from "../workspaces/membership.transitions.js";
import type { InviteAccepted, InviteClosed, InviteContext, InviteMailed, InviteSending } from "./classify-invite.js";
import { INVITE_MS, type InviteRow } from "./invite.js";
import type { InviteSent } from "./invite.messages.js";
import { inviteEntry, invites } from "./invite.table.js";

/** The transitions of an invite; the machine says when each runs. */

/** Sends the mail of a new invite, or of an open or expired one again, under a new link. */
export function sendInvite(
  context: InviteContext,
  { turn, tokenHash, sealedMail, terms }: Delivered<InviteSending<string>>,
): InviteContext {
  const earlier = context.invite;
  const isAgain = earlier !== null && (earlier.state === "open" || earlier.state === "expired");
  if (earlier !== null) endInvite(turn, earlier);
  if (earlier !== null && !isAgain) invites.remove(turn, turn.self.partition, earlier);
  const { role, teams, invitedBy } = terms;
  const mailId = turn.newId("mail");
  const invite: InviteRow = {
    inviteId: isAgain ? earlier.inviteId : turn.newId("inv"),
    email: context.email,
    ...{ role, teams, invitedBy },
    state: "open",
    linkHash: tokenHash,
    createdAtMs: isAgain ? earlier.createdAtMs : turn.now,
    sentAtMs: turn.now,
    expiresAtMs: turn.now + INVITE_MS,
    mailId,
    mail: "sending",
  };
  turn.direct(inviteEntry(turn.self.partition, invite));
  turn.start(MAIL_EFFECT.request(mailId, sealedMail));
  turn.wake("expire", invite.expiresAtMs);
  const sent: InviteSent = { inviteId: invite.inviteId, mailId, outcome: isAgain ? "sent-again" : "invited" };
  turn.reply(sent);
  return storeInvite(turn, isAgain ? context : { ...context, invite: null }, invite);
}

/** Adds the person; an existing member keeps their role and joins the teams. */
export function acceptInvite(
  context: InviteContext,
  { turn, userId, invite }: Delivered<InviteAccepted>,
): InviteContext {
  turn.cancelWake("expire");
  turn.cancelEffect(invite.mailId);
  turn.reply(admitMember(turn, { userId, email: context.email }, invite));
  return storeInvite(turn, context, { ...invite, state: "accepted" });
}

/** Expires an invite that nobody has accepted in time. */
export function expireInvite(context: InviteContext, { turn, invite }: Delivered<InviteClosed<string>>): InviteContext {
  return storeInvite(turn, context, { ...invite, state: "expired" });
}

/** Revokes an invite; its link stops working. */
export function revokeInvite(context: InviteContext, { turn, invite }: Delivered<InviteClosed<string>>): InviteContext {
  turn.cancelWake("expire");
  turn.cancelEffect(invite.mailId);
  turn.undirect(inviteEntry(turn.self.partition, invite));
  return storeInvite(turn, context, { ...invite, state: "revoked" });
}

/** Records whether the mail was sent. */
export function recordMailOutcome(
  context: InviteContext,
  { turn, invite, isSent }: Delivered<InviteMailed>,
): InviteContext {
  return storeInvite(turn, context, { ...invite, mail: isSent ? "sent" : "not-sent" });
}

/** Removes an invite that is over. */
export function forgetInvite({ invite }: InviteContext, turn: Turn): void {
  if (invite !== null) {
    turn.undirect(inviteEntry(turn.self.partition, invite));
    invites.remove(turn, turn.self.partition, invite);
  }
  turn.stop();
}

/** Writes the invite, replacing that of the context. */
function storeInvite(turn: Turn, context: InviteContext, invite: InviteRow): InviteContext {
  invites.put(turn, turn.self.partition, context.invite, invite);
  return { ...context, invite };
}

/** Removes the directory entry of an invite that is sent again or replaced, and its mail if that is still being sent. */
function endInvite(turn: Turn, invite: InviteRow): void {
  turn.undirect(inviteEntry(turn.self.partition, invite));
  turn.cancelEffect(invite.mailId);
}
