/** A role of a person in a workspace. */
export type Role = "owner" | "admin" | "member";

/** A scope of a workspace token. */
export type Scope = "read" | "plan" | "configure" | "secrets" | "runners" | "trusts";

/** A signed-in person. */
export interface PersonCaller {
  readonly kind: "person";
  readonly userId: string;
  readonly email: string;
  readonly sessionId: string;
}

/** The bearer of a workspace token. */
export interface TokenCaller {
  readonly kind: "token";
  readonly tokenId: string;
  readonly workspaceId: string;
  readonly scopes: readonly Scope[];
  /** The person who issued the token. */
  readonly issuedBy: string;
  /** The trust it was minted through, or null. */
  readonly trust: string | null;
}

/** Who makes a request, once the credential was verified. */
export type Caller = PersonCaller | TokenCaller;

/** Who a change record names (configuration change record, `by`). */
export interface ChangedBy {
  readonly kind: "person" | "token" | "service";
  readonly userId: string | null;
  readonly tokenId: string | null;
  readonly trust: string | null;
}

/** How a caller is named in change records. */
export function changedBy(caller: Caller): ChangedBy {
  return caller.kind === "person"
    ? { kind: "person", userId: caller.userId, tokenId: null, trust: null }
    : { kind: "token", userId: caller.issuedBy, tokenId: caller.tokenId, trust: caller.trust };
}
