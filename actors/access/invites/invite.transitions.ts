import type { InTurn } from "../../../runtime/cells/chart.js";
import type { Turn } from "../../../runtime/turns/turn.js";
import { MAIL_EFFECT } from "../../outbound/mail/mail.effects.js";
import type { Member } from "../../workspaces/member.js";
import { admitMember } from "../../workspaces/membership.transitions.js";
import { INVITE_MS, type InviteRow } from "./invite.js";
import type { InviteSent, Link } from "./invite.messages.js";
import { inviteEntry, invites } from "./invite.table.js";

/** The transitions of an invite. `invite.machine.ts` lists when each one runs. */

/** The stored state of an invite between turns. */
export interface InviteContext {
  readonly email: string;
  readonly invite: InviteRow | null;
}

/** The event of a transition that needs the stored invite. */
interface OfInvite extends InTurn {
  readonly invite: InviteRow;
}

/** A new link of an invite, and the role, teams and inviter that the invite gets. */
interface NewLink extends Link {
  readonly turn: Turn<InviteSent>;
  readonly terms: Pick<InviteRow, "role" | "teams" | "invitedBy">;
}

/** Sends a new invite. If the invite is open or expired, replaces its link and sends the new link. */
export function sendInvite({ turn, tokenHash, sealedMail, terms }: NewLink, context: InviteContext): InviteContext {
  const earlier = context.invite;
  const isAgain = earlier !== null && (earlier.state === "open" || earlier.state === "expired");
  if (earlier !== null) endInvite(turn, earlier);
  if (earlier !== null && !isAgain) invites.remove(turn, turn.self.partition, earlier);
  const { role, teams, invitedBy } = terms;
  const mailId = turn.newId("mail");
  const invite: InviteRow = {
    inviteId: isAgain ? earlier.inviteId : turn.newId("inv"),
    email: context.email,
    role,
    teams,
    invitedBy,
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

/**
 * Adds the invited user to the workspace. If the user already is a member, they keep their role and join the invite's
 * teams.
 */
export function acceptInvite(
  { turn, userId, invite }: OfInvite & { readonly turn: Turn<Member>; readonly userId: string },
  context: InviteContext,
): InviteContext {
  turn.cancelWake("expire");
  turn.cancelEffect(invite.mailId);
  turn.reply(admitMember(turn, { userId, email: context.email }, invite));
  return storeInvite(turn, context, { ...invite, state: "accepted" });
}

/** Expires an invite that nobody accepted in time. */
export function expireInvite({ turn, invite }: OfInvite, context: InviteContext): InviteContext {
  return storeInvite(turn, context, { ...invite, state: "expired" });
}

/** Revokes an invite. Its link stops working. */
export function revokeInvite({ turn, invite }: OfInvite, context: InviteContext): InviteContext {
  turn.cancelWake("expire");
  turn.cancelEffect(invite.mailId);
  turn.undirect(inviteEntry(turn.self.partition, invite));
  return storeInvite(turn, context, { ...invite, state: "revoked" });
}

/** Records whether the mail was sent. */
export function recordMailOutcome(
  { turn, invite, isSent }: OfInvite & { readonly isSent: boolean },
  context: InviteContext,
): InviteContext {
  return storeInvite(turn, context, { ...invite, mail: isSent ? "sent" : "not-sent" });
}

/** Removes an ended invite. */
export function forgetInvite({ turn }: InTurn, { invite }: InviteContext): void {
  if (invite !== null) {
    turn.undirect(inviteEntry(turn.self.partition, invite));
    invites.remove(turn, turn.self.partition, invite);
  }
  turn.stop();
}

/** Stores the invite, and returns a context with this invite. */
function storeInvite(turn: Turn, context: InviteContext, invite: InviteRow): InviteContext {
  invites.put(turn, turn.self.partition, context.invite, invite);
  return { ...context, invite };
}

/** Removes the directory entry of an invite that is resent or replaced, and cancels its mail if it is not sent yet. */
function endInvite(turn: Turn, invite: InviteRow): void {
  turn.undirect(inviteEntry(turn.self.partition, invite));
  turn.cancelEffect(invite.mailId);
}
