import { reference } from "../../runtime/reference.js";
import type { Answered, Message } from "../../runtime/turn.js";
import type { Refusal } from "../refusal.js";
import type { NewResource, ResourceMessage, WriteResult } from "../resources/resource.messages.js";
import type { AskHolder } from "../tables/claims.js";
import type { MembershipMessage } from "./membership.transitions.js";

/** Opens the workspace that has claimed its slug; answers with the workspace when it is open already. */
export interface OpenWorkspace extends Answered<WriteResult | Refusal | OpenedTooLate>, NewResource {
  readonly type: "workspace.open";
  /** From the claim: after this time another workspace may get the slug. */
  readonly openBeforeMs: number;
}

/** The claim's time was over; claim the slug again. */
export interface OpenedTooLate {
  readonly isTooLate: true;
}

/** Ends a token that was refused as expired, so that it stays so whatever the clock does. */
export interface ExpireToken extends Message {
  readonly type: "token.expire";
  readonly id: string;
}

/** A workspace, by its id. */
export const workspaceRef = reference<
  OpenWorkspace | ExpireToken | ResourceMessage | MembershipMessage | AskHolder,
  [workspaceId: string]
>("workspace", (workspaceId) => [workspaceId, workspaceId]);
