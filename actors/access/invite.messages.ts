import type { Message } from "../../runtime/turn.js";
import type { Refusal } from "../refusal.js";
import type { Member } from "../workspaces/member.table.js";
import type { InviteRow } from "./invite.table.js";

/** A link under which an invite goes out. The token itself is only in the sealed mail. */
interface Link {
  /** SHA-256 of the token, in hex. */
  readonly tokenHash: string;
  readonly sealedMail: string;
}

/** Invites the address; answered with {@link InviteSent}, or with `null` when it is a member's. */
export interface SendInvite extends Message, Link {
  readonly type: "invite.send";
  /** The person who invites. */
  readonly by: string;
  readonly role: InviteRow["role"];
  readonly teams: readonly string[];
}

/** Sends an open or expired invite again, under a new link; answered with {@link InviteSent}. */
export interface ResendInvite extends Message, Link {
  readonly type: "invite.resend";
  readonly inviteId: string;
}

export interface RevokeInvite extends Message {
  readonly type: "invite.revoke";
  readonly inviteId: string;
}

/** Accepts; answered with an {@link AcceptAnswer}. */
export interface AcceptInvite extends Message {
  readonly type: "invite.accept";
  readonly tokenHash: string;
  readonly userId: string;
  readonly email: string;
}

/** The member that the person is now. */
export type AcceptAnswer = Member | Refusal;

export type InviteMessage = SendInvite | ResendInvite | RevokeInvite | AcceptInvite;

/** An invite whose mail is on its way. */
export interface InviteSent {
  readonly inviteId: string;
  readonly mailId: string;
  readonly outcome: "invited" | "sent-again";
}
