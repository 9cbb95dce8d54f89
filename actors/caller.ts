/** A person's role in a workspace. */
export type Role = "owner" | "admin" | "member";

/** A scope of a workspace token. The configuration API defines all but `work`. */
export type Scope = "read" | "plan" | "configure" | "secrets" | "runners" | "trusts" | "work";

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
  /** The person who issued the token or, for a minted token, who defined its trust. */
  readonly issuedBy: string;
  /** The id of the trust that minted the token; null for an issued token. */
  readonly trust: string | null;
}

/** The sender of a request, after its credential was verified. */
export type Caller = PersonCaller | TokenCaller;

/** Returns the id of the person or token that sent a request. */
export function callerId(caller: Caller): string {
  return caller.kind === "person" ? caller.userId : caller.tokenId;
}
