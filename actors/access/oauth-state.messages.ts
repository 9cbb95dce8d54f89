import { reference } from "../../runtime/reference.js";
import type { Answered } from "../../runtime/turn.js";
import { GLOBAL_PARTITION } from "../../storage/keys.js";
import type { Refusal } from "../refusal.js";

/** What a person links at another host. */
export interface OAuthStateTerms {
  /** The flow that it belongs to: a state of one flow is not valid in another. */
  readonly purpose: "integration" | "code-host";
  /** The subject of the link, by its ids. */
  readonly subject: Readonly<Record<string, string>>;
  /** What the flow needs to read the response (a PKCE verifier), sealed; null for nothing. */
  readonly sealed: string | null;
}

/** Stores a link that was begun, under the SHA-256 (hex) of a state that the edge made. */
export interface BeginOAuthState extends Answered<OAuthStateBegun>, OAuthStateTerms {
  readonly type: "link.begin";
  readonly stateHash: string;
  readonly sessionId: string;
}

export interface OAuthStateBegun {
  readonly expiresAtMs: number;
}

/** Uses up a state; refused `conflict` where there is none. */
export interface UseOAuthState extends Answered<OAuthStateTerms | Refusal> {
  readonly type: "link.use";
  readonly purpose: OAuthStateTerms["purpose"];
  readonly stateHash: string;
  readonly sessionId: string;
}

/** The links that a person has begun and not finished. */
export const oauthStateRef = reference<BeginOAuthState | UseOAuthState, [userId: string]>("link", (userId) => [
  GLOBAL_PARTITION,
  userId,
]);
