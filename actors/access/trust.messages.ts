import type { ReferenceTo } from "../../runtime/reference.js";
import type { Answered, Delivered, Message } from "../../runtime/turn.js";
import type { ResourceRow } from "../resources/resource.table.js";
import type { WorkloadFault } from "./workload-token.js";

/** Messages to trusts of any kind. */

/** Requests credentials for a workload's token that the trust's terms admit. */
export interface MintCredentials extends Answered<MintAnswer> {
  readonly type: "trust.mint";
  /** The version of the trust whose terms the token was checked against. */
  readonly trustVersion: number;
  readonly subject: string;
  /** SHA-256 (hex) of each value that the edge made. */
  readonly hashes: readonly string[];
  /** From `Service-Client`, as change records store it. */
  readonly client: string | null;
}

/** Reports a token that the trust's terms do not admit. */
export interface RefuseWorkload extends Message, WorkloadFault {
  readonly type: "trust.refuse";
}

/** The answer to a mint: the credentials' ids in the order of their hashes, or why there are none. */
export type MintAnswer =
  | { readonly minted: true; readonly ids: readonly string[]; readonly expiresAtMs: number }
  | ({ readonly minted: false } & WorkloadFault);

export type TrustMessage = MintCredentials | RefuseWorkload;

/** What a kind of trust mints. */
export interface Minting {
  /** The actors of its trusts. */
  readonly actor: ReferenceTo<TrustMessage>;
  readonly trustKind: string;
  /** Stores the credentials and returns their ids and common end. Called with the current trust. */
  mint(trust: ResourceRow, message: Delivered<MintCredentials>): Omit<MintAnswer & { minted: true }, "minted">;
}
