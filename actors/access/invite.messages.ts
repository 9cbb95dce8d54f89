import { reference } from "../../runtime/reference.js";
import type { Answered, Message } from "../../runtime/turn.js";
import type { Refusal } from "../refusal.js";
import type { Member } from "../workspaces/member.table.js";
import type { InviteRow } from "./invite.js";

/** The link of an invite. The token itself is only in the sealed mail. */
export interface Link {
  /** SHA-256 of the token, in hex. */
  readonly tokenHash: string;
  readonly sealedMail: string;
}

/** Invites the address; answered with `null` when it belongs to a member. */
export interface SendInvite extends Answered<InviteSent | null>, Link {
  readonly type: "invite.send";
  /** The person who invites. */
  readonly by: string;
  readonly role: InviteRow["role"];
  readonly teams: readonly string[];
}

/** Sends an open or expired invite again, under a new link. */
export interface ResendInvite extends Answered<InviteSent | Refusal>, Link {
  readonly type: "invite.resend";
  readonly inviteId: string;
}

export interface RevokeInvite extends Answered<Refusal | undefined> {
  readonly type: "invite.revoke";
  readonly inviteId: string;
}

/** Accepts; answered with the membership that the person has now. */
export interface AcceptInvite extends Answered<Member | Refusal> {
  readonly type: "invite.accept";
  readonly tokenHash: string;
  readonly userId: string;
  readonly email: string;
}

/** From retention: an invite that is over is removed. */
export interface ForgetInvite extends Message {
  readonly type: "invite.forget";
}

export type InviteMessage = SendInvite | ResendInvite | RevokeInvite | AcceptInvite | ForgetInvite;

/** The invite to a workspace; its id is the mail address. */
export const inviteRef = reference<InviteMessage>("invite");

/** An invite whose mail is being sent. */
export interface InviteSent {
  readonly inviteId: string;
  readonly mailId: string;
  readonly outcome: "invited" | "sent-again";
}
