import { reference } from "../../../runtime/cells/reference.js";
import type { Answered } from "../../../runtime/turns/turn.js";
import { GLOBAL_PARTITION } from "../../../storage/keys.js";
import type { Refusal } from "../../refusal.js";

/** The purpose and subject of an OAuth link. */
export interface OAuthStateTerms {
  /** The flow that the state belongs to. A state of one flow is invalid in another. */
  readonly purpose: "integration" | "code-host";
  /** The ids that identify the subject of the link. */
  readonly subject: Readonly<Record<string, string>>;
  /** The sealed data that the flow needs to read the response (a PKCE verifier); null for none. */
  readonly sealed: string | null;
}

/** Stores a started link under the SHA-256 (hex) of its state. The HTTP layer created this state. */
export interface BeginOAuthState extends Answered<OAuthStateStarted>, OAuthStateTerms {
  readonly type: "link.begin";
  readonly stateHash: string;
  readonly sessionId: string;
}

export interface OAuthStateStarted {
  readonly expiresAtMs: number;
}

/** Consumes a state. Refused with `conflict` if the user has no valid state with this hash, session and purpose. */
export interface UseOAuthState extends Answered<OAuthStateTerms | Refusal> {
  readonly type: "link.use";
  readonly purpose: OAuthStateTerms["purpose"];
  readonly stateHash: string;
  readonly sessionId: string;
}

/** The unfinished OAuth links of a user. */
export const oauthStateRef = reference<BeginOAuthState | UseOAuthState, [userId: string]>("link", (userId) => [
  GLOBAL_PARTITION,
  userId,
]);
