import type { Gating, Hearing, KeeperRequest } from "../../runtime/actor-type.js";
import { address } from "../../runtime/address.js";
import type { Fact, GateQuestion } from "../../runtime/turn.js";
import type { Reading } from "../../storage/store.js";
import { resourcesUnder } from "../resources/indexes.js";
import type { ResourceRow } from "../resources/resource-rows.js";
import type { WorkEvent, WorkFact, WorkQuestion } from "../tasks/work-event.js";
import { hookEventNames, hookEvents } from "./events.js";
import type { HookFields } from "./hook.kind.js";
import type { FireHook } from "./hook-occurrence.machine.js";
import { type EventValues, eventValues } from "./hook-values.js";
import { whyNotMatched, wordsFor } from "./matching.js";

/** How long the hooks on one before event have together (configuration API, Refusing an event). */
const BEFORE_EVENT_MS = 60_000;

/** Fires the hooks that match an after event. */
export const firesAfterHooks: Hearing = {
  name: "hooks on after events",
  facts: hookEventNames.filter((name) => hookEvents[name].timing === "after"),
  hear: (fact: Fact, turn) => {
    const { work } = fact as WorkFact;
    for (const hook of hooksOn(turn, work)) {
      const fire: FireHook = { type: "hook.fire", hookId: hook.id, work, resends: null };
      turn.send(address(work.workspaceId, "hook-occurrence", firingId(work, hook)), fire);
    }
  },
};

/** Lets the hooks that match a before event decide whether it may happen. */
export const keepsBeforeHooks: Gating = {
  name: "hooks on before events",
  gates: hookEventNames.filter((name) => hookEvents[name].timing === "before"),
  boundMs: BEFORE_EVENT_MS,
  keepers: (question: GateQuestion, _partition, reading) => {
    const { work } = question as WorkQuestion;
    return hooksOn(reading, work).map((hook): KeeperRequest => {
      const message: FireHook = { type: "hook.fire", hookId: hook.id, work, resends: null };
      return { to: address(work.workspaceId, "hook-occurrence", firingId(work, hook)), message };
    });
  },
};

function hooksOn(reading: Reading, work: WorkEvent): ResourceRow<HookFields>[] {
  const { workspaceId, teamId } = work;
  const found: ResourceRow<HookFields>[] = [];
  let known: EventValues | null = null;
  const values = () => (known ??= eventValues(work));
  for (const word of wordsFor(work)) {
    for (const hook of resourcesUnder<HookFields>(reading, workspaceId, { kind: "hook", teamId, word })) {
      if (whyNotMatched(hook.fields, work, values) === null) found.push(hook);
    }
  }
  return found;
}

/** One firing for each occurrence and hook, with an id that sorts by the occurrence's time. */
export function firingId(work: WorkEvent, hook: ResourceRow<HookFields>): string {
  return `${work.occurrence}-${hook.id.slice(-8)}`;
}
