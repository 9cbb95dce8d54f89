import type { ReferenceTo } from "../../../runtime/cells/reference.js";
import type { Answered, Delivered, Message } from "../../../runtime/turns/turn.js";
import type { ResourceRow } from "../../resources/resource.table.js";
import type { WorkloadFault } from "../tokens/workload-token.js";

/** Messages to trusts of any kind. */

/** Requests credentials for a workload token that the trust's terms accept. */
export interface MintCredentials extends Answered<MintAnswer> {
  readonly type: "trust.mint";
  /** The version that the trust had when the token was verified against its terms. */
  readonly trustVersion: number;
  readonly subject: string;
  /** SHA-256 (hex) of each credential value that the HTTP layer created. */
  readonly hashes: readonly string[];
  /** The request's `Service-Client` header, which change records store. */
  readonly client: string | null;
}

/** Reports why an exchange was refused. */
export interface RefuseWorkload extends Message, WorkloadFault {
  readonly type: "trust.refuse";
}

/** The answer to a mint: the credential ids in the order of their hashes, or why there are none. */
export type MintAnswer =
  | { readonly minted: true; readonly ids: readonly string[]; readonly expiresAtMs: number }
  | ({ readonly minted: false } & WorkloadFault);

export type TrustMessage = MintCredentials | RefuseWorkload;

/** How a kind of trust mints its credentials. */
export interface Minting {
  /** The actors of trusts of this kind. */
  readonly actor: ReferenceTo<TrustMessage>;
  readonly trustKind: string;
  /** Stores the credentials and returns their ids and common expiry. Called with the current trust. */
  mint(trust: ResourceRow, message: Delivered<MintCredentials>): Omit<MintAnswer & { minted: true }, "minted">;
}
