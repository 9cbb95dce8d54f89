import { isResultOf } from "../../runtime/effect-type.js";
import type { Answered, EffectEnded, Message, TurnReading, Woken } from "../../runtime/turn.js";
import { MAIL_EFFECT } from "../outbound/mail.effects.js";
import type { Refusal } from "../refusal.js";
import { isWorkspaceOpen } from "../resources/resource.table.js";
import type { Member } from "../workspaces/member.table.js";
import { findMemberByEmail } from "../workspaces/member.table.js";
import type { InviteRow } from "./invite.js";
import type {
  AcceptInvite,
  ForgetInvite,
  InviteMessage,
  InviteSent,
  Link,
  ResendInvite,
  RevokeInvite,
  SendInvite,
} from "./invite.messages.js";

/** The stored state of an invite between turns. */
export interface InviteContext {
  readonly email: string;
  readonly invite: InviteRow | null;
}

/** A message without a field that affects how it is classified. */
interface Plain<Type extends string> extends Message {
  readonly type: Type;
}

/** The invite is sent, for the first time or again, under a new link. */
export interface InviteSending<Type extends string> extends Answered<InviteSent>, Link {
  readonly type: Type;
  readonly terms: Pick<InviteRow, "role" | "teams" | "invitedBy">;
}

/** The invited person is a member now. */
export interface InviteAccepted extends Answered<Member | Refusal> {
  readonly type: "accept.taken";
  readonly userId: string;
  readonly invite: InviteRow;
}

/** The request is refused. */
export interface InviteRefused<Type extends string> extends Answered<Refusal> {
  readonly type: Type;
  readonly refusal: Refusal;
}

/** It has ended for everybody: expired or revoked. */
export interface InviteClosed<Type extends string> extends Message {
  readonly type: Type;
  readonly invite: InviteRow;
}

/** The 14 days of an invite are over; the person who tries to accept is refused. */
type AcceptedLate = InviteClosed<"accept.late"> & InviteRefused<"accept.late">;

/** The mail of the invite was sent, or failed. */
export interface InviteMailed extends Message {
  readonly type: "mail.ended";
  readonly invite: InviteRow;
  readonly isSent: boolean;
}

/** A classified message, with what was read to classify it. */
export type InviteEvent =
  | InviteSending<"send.taken">
  /** The address belongs to a member. */
  | (Plain<"send.skipped"> & Answered<null>)
  | InviteSending<"resend.taken">
  | InviteRefused<"resend.refused">
  | InviteAccepted
  | AcceptedLate
  | InviteRefused<"accept.refused">
  | InviteClosed<"revoke.taken">
  | InviteRefused<"revoke.refused">
  | InviteClosed<"expiry.due">
  | Plain<"expiry.early">
  | InviteMailed
  | ForgetInvite
  /** Of an earlier invite. */
  | EffectEnded;

/** Classifies each message to an invite as an event of its machine. Reads only. */
export function classifyInvite(
  message: InviteMessage | EffectEnded | Woken,
  { context }: { readonly context: InviteContext },
  turn: TurnReading,
): InviteEvent {
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
        ? { type: "expiry.due", invite }
        : { type: "expiry.early" };
    case "effect.ended":
      if (!isResultOf(MAIL_EFFECT, message) || message.id !== invite?.mailId) return message;
      return { type: "mail.ended", invite, isSent: message.result.ok };
    // No transition takes a message of an unknown type.
    default:
      return message;
  }
}

function classifySend(message: SendInvite, email: string, turn: TurnReading): InviteEvent {
  if (findMemberByEmail(turn, turn.self.partition, email) !== undefined) return { type: "send.skipped" };
  const { tokenHash, sealedMail, role, teams, by } = message;
  return { type: "send.taken", tokenHash, sealedMail, terms: { role, teams, invitedBy: by } };
}

function classifyResend({ inviteId, tokenHash, sealedMail }: ResendInvite, invite: InviteRow | null): InviteEvent {
  if (inviteId !== invite?.inviteId) return { type: "resend.refused", refusal: nothing };
  if (invite.state === "open" || invite.state === "expired") {
    return { type: "resend.taken", tokenHash, sealedMail, terms: invite };
  }
  const detail = `This invite was ${invite.state}; only an open or expired invite can be sent again.`;
  return { type: "resend.refused", refusal: conflict(detail) };
}

function classifyAccept(
  { tokenHash, userId, email }: AcceptInvite,
  { email: invited, invite }: InviteContext,
  turn: TurnReading,
): InviteEvent {
  if (invite === null || tokenHash !== invite.linkHash || invite.state === "revoked") {
    return { type: "accept.refused", refusal: nothing };
  }
  const isOpen = isWorkspaceOpen(turn, turn.self.partition);
  if (invite.state === "open" && invite.expiresAtMs <= turn.now) {
    return { type: "accept.late", invite, refusal: isOpen ? expired : nothing };
  }
  if (!isOpen) return { type: "accept.refused", refusal: nothing };
  if (invite.state === "expired") return { type: "accept.refused", refusal: expired };
  if (invite.state === "accepted") {
    return { type: "accept.refused", refusal: conflict("This invite was accepted already.") };
  }
  return email === invited ? { type: "accept.taken", userId, invite } : { type: "accept.refused", refusal: notYours };
}

function classifyRevoke({ inviteId }: RevokeInvite, invite: InviteRow | null): InviteEvent {
  if (inviteId !== invite?.inviteId) return { type: "revoke.refused", refusal: nothing };
  return invite.state === "accepted"
    ? { type: "revoke.refused", refusal: conflict("An accepted invite cannot be revoked.") }
    : { type: "revoke.taken", invite };
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
