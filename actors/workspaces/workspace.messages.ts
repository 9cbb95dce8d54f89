import { reference } from "../../runtime/reference.js";
import type { Answered } from "../../runtime/turn.js";
import type { Refusal } from "../refusal.js";
import type { NewResource, ResourceMessage, WriteResult } from "../resources/resource.messages.js";
import type { AskHolder } from "../tables/claims.js";
import type { MembershipMessage } from "./membership.transitions.js";

/** Opens the workspace that has claimed its slug; one that is open already is answered as it is. */
export interface OpenWorkspace extends Answered<WriteResult | Refusal | OpenedTooLate>, NewResource {
  readonly type: "workspace.open";
  /** As the claim has it: from then on the slug may be another's. */
  readonly openBeforeMs: number;
}

/** The claim's time was over; it is to be made again. */
export interface OpenedTooLate {
  readonly isTooLate: true;
}

/** A workspace, by its id. */
export const workspaceRef = reference<
  OpenWorkspace | ResourceMessage | MembershipMessage | AskHolder,
  [workspaceId: string]
>("workspace", (workspaceId) => [workspaceId, workspaceId]);
