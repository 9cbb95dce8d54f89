import { reference } from "../../runtime/cells/reference.js";
import type { Answered, Message } from "../../runtime/turns/turn.js";
import type { Caller } from "../caller.js";
import type { Refusal } from "../refusal.js";
import type { Keyed } from "../resources/repeated-request.js";
import type { ConfigPullRequestRow, PickedCandidate } from "./config-pull-request.js";

/** The result of a pick. */
interface CandidatePicked {
  readonly pullRequest: ConfigPullRequestRow;
  /** Whether the pick started an opening: true for the first pick, and for a pick after a refusal. */
  readonly isBegun: boolean;
  /** Whether an earlier request with the same idempotency key had this result. */
  readonly replayed: boolean;
}

/** Picks a candidate. The sender must first check that the candidate's search allows the pick. */
export interface PickCandidate extends Answered<CandidatePicked | Refusal>, Keyed {
  readonly type: "candidate.pick";
  readonly caller: Caller;
  /** The client that the change record names; null if it names no client. */
  readonly client: string | null;
  readonly candidate: PickedCandidate;
}

/**
 * Removes the pull request's row; the pull request at the code host stays. Sent after its search, team or workspace was
 * deleted, or after its retention period.
 */
export interface ForgetPullRequest extends Message {
  readonly type: "pull-request.forget";
}

export type ConfigPullRequestMessage = PickCandidate | ForgetPullRequest;

/** The config pull request of a candidate, by workspace and candidate. */
export const configPullRequestRef = reference<ConfigPullRequestMessage>("config-pull-request");
