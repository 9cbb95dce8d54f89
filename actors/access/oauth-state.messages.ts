import { reference } from "../../runtime/reference.js";
import type { Answered } from "../../runtime/turn.js";
import { GLOBAL_PARTITION } from "../../storage/keys.js";
import type { Refusal } from "../refusal.js";

/** What a person goes elsewhere to link. */
export interface OAuthStateTerms {
  /** Which flow it is of: a state made for one is nothing to another. */
  readonly purpose: "integration" | "code-host";
  /** What is linked, by its ids. */
  readonly subject: Readonly<Record<string, string>>;
  /** What else the way back needs (a PKCE verifier), sealed; null for nothing. */
  readonly sealed: string | null;
}

/** Keeps what is begun, under the SHA-256 (hex) of a state that the edge made. */
export interface BeginOAuthState extends Answered<OAuthStateBegun>, OAuthStateTerms {
  readonly type: "link.begin";
  readonly stateHash: string;
  readonly sessionId: string;
}

export interface OAuthStateBegun {
  readonly expiresAtMs: number;
}

/** Uses a state up; refused `conflict` where there is none. */
export interface UseOAuthState extends Answered<OAuthStateTerms | Refusal> {
  readonly type: "link.use";
  readonly purpose: OAuthStateTerms["purpose"];
  readonly stateHash: string;
  readonly sessionId: string;
}

/** What a person has begun and not come back from. */
export const oauthStateRef = reference<BeginOAuthState | UseOAuthState, [userId: string]>("link", (userId) => [
  GLOBAL_PARTITION,
  userId,
]);
