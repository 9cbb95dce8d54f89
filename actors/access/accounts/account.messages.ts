import { reference } from "../../../runtime/cells/reference.js";
import type { Answered, Message } from "../../../runtime/turns/turn.js";
import { GLOBAL_PARTITION } from "../../../storage/keys.js";
import type { Refusal } from "../../refusal.js";

/** Messages to an account. */

/**
 * Requests a sign-in link, and usually a mail with this link. The message has the link's token only inside the sealed
 * mail.
 */
export interface SendLink extends Answered<Refusal | undefined> {
  readonly type: "link.send";
  readonly tokenHash: string;
  /** Null to send no mail: `signalbox dev` shows the link to the user itself. */
  readonly sealedMail: string | null;
  /** The client address of the request, as a SHA-256 digest. */
  readonly source: string;
}

/** Consumes a link and opens a session with a token that the HTTP layer created. */
export interface OpenSession extends Answered<{ readonly userId: string } | Refusal> {
  readonly type: "session.open";
  readonly linkHash: string;
  readonly sessionHash: string;
}

export interface CloseSession extends Message {
  readonly type: "session.close";
  readonly sessionHash: string;
}

/** Sets the user's name. Setting the current name again changes nothing. */
export interface SetName extends Message {
  readonly type: "name.set";
  readonly name: string;
}

/** The account of a mail address. */
export const accountRef = reference<SendLink | OpenSession | CloseSession | SetName, [email: string]>(
  "account",
  (email) => [GLOBAL_PARTITION, email],
);
