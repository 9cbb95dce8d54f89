import { reference } from "../../runtime/reference.js";
import type { Answered, Message } from "../../runtime/turn.js";
import type { Caller } from "../caller.js";
import type { Refusal } from "../refusal.js";
import type { Keyed } from "../resources/repeated-request.js";
import type { ConfigPullRequestRow, PickedCandidate } from "./config-pull-request.js";

/** What became of a pick. */
interface CandidatePicked {
  readonly pullRequest: ConfigPullRequestRow;
  /** Whether the pick begins to open it: the first one, and one after a refusal. */
  readonly isBegun: boolean;
  /** Whether an earlier request under the same key did. */
  readonly replayed: boolean;
}

/** A person picks a candidate that may be picked: its search says so. */
export interface PickCandidate extends Answered<CandidatePicked | Refusal>, Keyed {
  readonly type: "candidate.pick";
  readonly caller: Caller;
  /** The client for the change record. */
  readonly client: string | null;
  readonly candidate: PickedCandidate;
}

/** Its search, its team or its workspace is gone, or it is stored too long. */
export interface ForgetPullRequest extends Message {
  readonly type: "pull-request.forget";
}

export type ConfigPullRequestMessage = PickCandidate | ForgetPullRequest;

/** The config pull request of a candidate, by workspace and candidate. */
export const configPullRequestRef = reference<ConfigPullRequestMessage>("config-pull-request");
