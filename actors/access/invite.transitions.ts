import type { Delivered, Turn } from "../../runtime/turn.js";
import { MAIL_EFFECT } from "../outbound/mail.effects.js";
import type { Refusal } from "../refusal.js";
import { findResource } from "../resources/resource.table.js";
import { admitMember } from "../workspaces/membership.transitions.js";
import type { InviteContext, InviteEvent } from "./invite.machine.js";
import type { AcceptInvite, InviteSent } from "./invite.messages.js";
import { INVITE_MS, type InviteRow, inviteEntry, invites, openInvites } from "./invite.table.js";

/** What the transitions of an invite do; the machine says when. */

/** Sends the mail of a new invite, or that of an open or expired one again, under a new link. */
export function sendInvite(context: InviteContext, event: InviteEvent): InviteContext {
  if (event.type !== "invite.send" && event.type !== "invite.resend") return context;
  const { turn, tokenHash, sealedMail } = event;
  const earlier = context.invite;
  const isAgain = earlier !== null && (earlier.state === "open" || earlier.state === "expired");
  if (earlier !== null) removeInvite(turn, earlier);
  const terms = event.type === "invite.send" ? { role: event.role, teams: event.teams, invitedBy: event.by } : earlier;
  if (terms === null) return context;
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
  return storeInvite(turn, context, invite);
}

/** Whether the person is the one who was invited, and the workspace is open. */
export function mayAccept(context: InviteContext, { turn, email }: Delivered<AcceptInvite>): boolean {
  return email === context.email && isOpen(turn);
}

/** Lets the person in; an existing member keeps their role and joins the teams. */
export function acceptInvite(context: InviteContext, event: InviteEvent): InviteContext {
  const { invite, email } = context;
  if (event.type !== "invite.accept" || invite === null) return context;
  const { turn, userId } = event;
  turn.cancelWake("expire");
  turn.cancelEffect(invite.mailId);
  turn.reply(admitMember(turn, { userId, email }, invite));
  return storeInvite(turn, context, { ...invite, state: "accepted" });
}

/** Ends an invite that nobody has accepted; the link of a revoked one leads nowhere. */
export function closeInvite(
  context: InviteContext,
  { turn }: InviteEvent,
  state: "expired" | "revoked",
): InviteContext {
  const { invite } = context;
  if (invite === null) return context;
  if (state === "revoked") {
    turn.cancelWake("expire");
    turn.cancelEffect(invite.mailId);
    turn.undirect(inviteEntry(turn.self.partition, invite));
  }
  return storeInvite(turn, context, { ...invite, state });
}

/** Notes whether the mail went out. */
export function recordMailOutcome(context: InviteContext, event: InviteEvent): InviteContext {
  const { invite } = context;
  if (event.type !== "effect.ended" || invite?.mailId !== event.id) return context;
  const mail = event.result.ok ? "sent" : "not-sent";
  return storeInvite(event.turn, context, { ...invite, mail });
}

/** Why the invite does not do what was asked of it, in the state it is in. */
export function toRefusal({ invite, email }: InviteContext, event: InviteEvent): Refusal {
  if (event.type === "invite.accept" && invite?.linkHash === event.tokenHash) {
    if (!isOpen(event.turn)) return { refused: "not-found" };
    if (invite.state === "expired") return conflict("This invite has expired. Ask for a new one.");
    if (invite.state === "accepted") return conflict("This invite was accepted already.");
    if (invite.state === "open" && event.email !== email) return notYours;
  }
  if (event.type === "invite.resend" && event.inviteId === invite?.inviteId) {
    return conflict(`This invite was ${invite.state}; only an open or expired invite can be sent again.`);
  }
  if (event.type === "invite.revoke" && event.inviteId === invite?.inviteId) {
    return conflict("An accepted invite cannot be revoked.");
  }
  return { refused: "not-found" };
}

const notYours: Refusal = {
  refused: "forbidden",
  title: "Not your invite",
  detail: "This invite is for another address: sign in with the address it was sent to.",
};

function conflict(detail: string): Refusal {
  return { refused: "conflict", detail };
}

function isOpen(turn: Turn): boolean {
  const workspaceId = turn.self.partition;
  return findResource(turn, workspaceId, "workspace", workspaceId) !== undefined;
}

/** Writes the invite, and tells who waits for what becomes of its mail. */
function storeInvite(turn: Turn, context: InviteContext, invite: InviteRow): InviteContext {
  const workspaceId = turn.self.partition;
  invites.put(turn, workspaceId, invite.inviteId, invite);
  if (invite.state === "open") openInvites.put(turn, workspaceId, invite.inviteId, true);
  else openInvites.remove(turn, workspaceId, invite.inviteId);
  turn.publishChange(`invite/${invite.inviteId}`, { state: invite.state, mail: invite.mail });
  return { ...context, invite };
}

/** Takes away what the invite that is about to be replaced was found by, and its mail if that is still on its way. */
function removeInvite(turn: Turn, invite: InviteRow): void {
  turn.undirect(inviteEntry(turn.self.partition, invite));
  turn.cancelEffect(invite.mailId);
  invites.remove(turn, turn.self.partition, invite.inviteId);
}
