import type { GatekeeperTimedOut, ReplyTo } from "../../runtime/cells/actor-type.js";
import { reference } from "../../runtime/cells/reference.js";
import type { Message } from "../../runtime/turns/turn.js";
import type { WorkEvent } from "../events/catalogue.js";

/** Messages to a hook occurrence. */

/** Fires a hook. The actor's id is the id of the hook occurrence. The actor ignores repeated messages. */
export interface FireHook extends Message {
  readonly type: "hook.fire";
  readonly hookId: string;
  readonly work: WorkEvent;
  /** The id of the hook occurrence that this occurrence resends; null for none. */
  readonly resends: string | null;
  /** Set by the runtime if a `before` event waits for the answer. */
  readonly gate?: ReplyTo;
}

/** The actor of a hook occurrence in a workspace. */
export const hookOccurrenceRef = reference<FireHook | GatekeeperTimedOut>("hook-occurrence");
