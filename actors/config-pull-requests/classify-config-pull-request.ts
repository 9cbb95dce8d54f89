import type { Answered, Message, TurnReading, Woken } from "../../runtime/turn.js";
import { permit, seesOutcomes } from "../access/visibility.js";
import { isTokenOver } from "../access/workspace-token.queries.js";
import { isRefusal, type Refusal } from "../refusal.js";
import { findRequestBefore } from "../resources/repeated-request.js";
import { findResource } from "../resources/resource.table.js";
import type { ConfigPullRequestRow } from "./config-pull-request.js";
import type { CandidatePicked, ConfigPullRequestMessage, PickCandidate } from "./config-pull-request.messages.js";
import { configPullRequests, findPullRequestOf } from "./config-pull-request.table.js";

interface PickRefused extends Answered<Refusal> {
  readonly type: "pick.refused";
  readonly refusal: Refusal;
}

/** A pick under a key that was taken before. */
interface PickRepeated extends Answered<CandidatePicked> {
  readonly type: "pick.repeated";
  readonly pullRequest: ConfigPullRequestRow;
}

/** Time to open it. */
interface OpeningDue extends Message {
  readonly type: "opening.due";
}

export type ConfigPullRequestEvent = ConfigPullRequestMessage | PickRefused | PickRepeated | OpeningDue;

/** The event of each message to a config pull request. Reads only. */
export function classifyConfigPullRequest(
  message: ConfigPullRequestMessage | Woken,
  _state: unknown,
  turn: TurnReading,
): ConfigPullRequestEvent {
  if (message.type === "woken") return { type: "opening.due" };
  return message.type === "candidate.pick" ? toPick(message, turn) : message;
}

function toPick(message: PickCandidate, turn: TurnReading): ConfigPullRequestEvent {
  const { partition, id } = turn.self;
  const before = refuseCaller(turn, message) ?? findRequestBefore(turn, message);
  if (isRefusal(before)) return { type: "pick.refused", refusal: before };
  if (before === null) return message;
  const pullRequest = configPullRequests.get(turn, partition, before) ?? findPullRequestOf(turn, partition, id);
  return pullRequest === undefined ? message : { type: "pick.repeated", pullRequest };
}

/** Checks again within the turn: while the message waited, the caller may have lost what admitted them. */
function refuseCaller(turn: TurnReading, { caller, candidate: { teamId } }: PickCandidate): Refusal | null {
  const { partition } = turn.self;
  if (caller.kind === "token" && isTokenOver(turn, caller, turn.now)) {
    return { refused: "unauthenticated", detail: "The token was revoked, or it has expired." };
  }
  const isThere = findResource(turn, partition, "team", teamId) !== undefined;
  if (!isThere || !seesOutcomes(turn, caller, partition, teamId)) return { refused: "not-found" };
  return permit(turn, caller, partition, "plan", "config-pull-request");
}
