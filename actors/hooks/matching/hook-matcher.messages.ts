import type { GatekeeperTimedOut, ReplyTo } from "../../../runtime/cells/actor-type.js";
import { reference } from "../../../runtime/cells/reference.js";
import type { Message } from "../../../runtime/turns/turn.js";
import type { WorkEvent } from "../../events/catalogue.js";
import type { MatchCursor } from "./match-hooks.js";

/** Matches the remaining hooks of an event, from the cursor on. */
export interface MatchHooks extends Message {
  readonly type: "hook.judge";
  readonly work: WorkEvent;
  readonly from: MatchCursor;
  /** Set by the runtime if a `before` event waits for the answer. */
  readonly gate?: ReplyTo;
}

/** The actor that matches hooks for an event's team. */
export const hookMatcherRef = reference<
  MatchHooks | GatekeeperTimedOut,
  [work: Pick<WorkEvent, "workspaceId" | "teamId">]
>("hook-judge", ({ workspaceId, teamId }) => [workspaceId, teamId]);
