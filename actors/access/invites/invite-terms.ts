import type { Reading } from "../../../storage/store.js";
import type { FieldError, Refusal } from "../../refusal.js";
import { findResource } from "../../resources/resource.table.js";
import { maySignIn } from "../accounts/mail-address.js";

/**
 * Maximum number of invites that one user may send per hour, across all workspaces. The limit protects recipients, who
 * did not ask for the mail.
 */
export const MAX_INVITES_AN_HOUR = 1_000;

/** Returns the refusal (429) of invites beyond {@link MAX_INVITES_AN_HOUR}. */
export function tooManyInvites(retryAfterSeconds: number): Refusal {
  return { refused: "too-many-requests", detail: "You have sent too many invites.", retryAfterSeconds };
}

/**
 * The values of new invites that the service checks. Only addresses of the domains in `signInDomains` may sign in; null
 * allows any domain.
 */
export interface InviteTerms {
  readonly workspaceId: string;
  readonly emails: readonly string[];
  readonly teams: readonly string[];
  readonly signInDomains: readonly string[] | null;
}

/**
 * Returns a refusal with an error for each address that may not sign in and each unknown team; null if there are none.
 */
export function refuseInvites(reading: Reading, terms: InviteTerms): Refusal | null {
  const { workspaceId, emails, teams, signInDomains } = terms;
  const barred = emails.flatMap((email, index): FieldError[] =>
    maySignIn(email, signInDomains)
      ? []
      : [{ path: `emails[${index}]`, message: "has a mail domain that is not allowed to sign in" }],
  );
  const missing = teams.flatMap((id, index): FieldError[] =>
    findResource(reading, workspaceId, "team", id) === undefined
      ? [{ path: `teams[${index}]`, message: "is not a team of this workspace" }]
      : [],
  );
  const errors = [...barred, ...missing];
  return errors.length === 0 ? null : { refused: "invalid", errors };
}
