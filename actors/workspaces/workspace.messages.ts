import { reference } from "../../runtime/cells/reference.js";
import type { Answered, Message } from "../../runtime/turns/turn.js";
import type { Refusal } from "../refusal.js";
import type { NewResource, ResourceMessage, WriteResult } from "../resources/resource.messages.js";
import type { AskHolder } from "../tables/claims.js";
import type { MembershipMessage } from "./membership.transitions.js";

/**
 * Opens the workspace whose id has claimed the slug. If the workspace is already open, the answer is the open
 * workspace.
 */
export interface OpenWorkspace extends Answered<WriteResult | Refusal | OpenedTooLate>, NewResource {
  readonly type: "workspace.open";
  /** From this time on, the claim can no longer open the workspace. In milliseconds since 1970. */
  readonly openBeforeMs: number;
}

/** The answer if the slug's claim has timed out. The sender must claim the slug again. */
export interface OpenedTooLate {
  readonly isTooLate: true;
}

/** Ends a token that the service refused as expired. So the token stays invalid if the clock is set back. */
export interface ExpireToken extends Message {
  readonly type: "token.expire";
  readonly id: string;
}

/** A workspace, by its id. */
export const workspaceRef = reference<
  OpenWorkspace | ExpireToken | ResourceMessage | MembershipMessage | AskHolder,
  [workspaceId: string]
>("workspace", (workspaceId) => [workspaceId, workspaceId]);
