import type { GatekeeperTimedOut, ReplyTo } from "../../runtime/actor-type.js";
import { reference } from "../../runtime/reference.js";
import type { Message } from "../../runtime/turn.js";
import type { WorkEvent } from "../events/catalogue.js";

/** What a firing is told. */

/** A hook fires; the id in the address is the firing's own. Taken once. */
export interface FireHook extends Message {
  readonly type: "hook.fire";
  readonly hookId: string;
  readonly work: WorkEvent;
  /** The firing that is sent again, or null. */
  readonly resends: string | null;
  /** Set by the runtime when a before event waits for the answer. */
  readonly gate?: ReplyTo;
}

/** A firing of a hook in a workspace. */
export const hookOccurrenceRef = reference<FireHook | GatekeeperTimedOut>("hook-occurrence");
