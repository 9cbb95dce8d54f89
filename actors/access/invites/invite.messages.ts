import { reference } from "../../../runtime/cells/reference.js";
import type { Answered, Message } from "../../../runtime/turns/turn.js";
import type { Refusal } from "../../refusal.js";
import type { Member } from "../../workspaces/member.js";
import type { InviteRow } from "./invite.js";

/** The link of an invite. Only the sealed mail contains the token. */
export interface Link {
  /** SHA-256 of the token, in hex. */
  readonly tokenHash: string;
  readonly sealedMail: string;
}

/** Invites a mail address. The answer is `null` if a member of the workspace has this address. */
export interface SendInvite extends Answered<InviteSent | null>, Link {
  readonly type: "invite.send";
  /** The inviting user. */
  readonly by: string;
  readonly role: InviteRow["role"];
  readonly teams: readonly string[];
}

/** Resends an open or expired invite with a new link. */
export interface ResendInvite extends Answered<InviteSent | Refusal>, Link {
  readonly type: "invite.resend";
  readonly inviteId: string;
}

export interface RevokeInvite extends Answered<Refusal | undefined> {
  readonly type: "invite.revoke";
  readonly inviteId: string;
}

/** Accepts an invite. The answer is the user's membership. */
export interface AcceptInvite extends Answered<Member | Refusal> {
  readonly type: "invite.accept";
  readonly tokenHash: string;
  readonly userId: string;
  readonly email: string;
}

/** Sent by the retention actor to remove an ended invite. */
export interface ForgetInvite extends Message {
  readonly type: "invite.forget";
}

export type InviteMessage = SendInvite | ResendInvite | RevokeInvite | AcceptInvite | ForgetInvite;

/** The invite of a mail address to a workspace; its id is the address. */
export const inviteRef = reference<InviteMessage>("invite");

/** An invite whose mail is being sent. */
export interface InviteSent {
  readonly inviteId: string;
  readonly mailId: string;
  readonly outcome: "invited" | "sent-again";
}
