import type { Gate, GatekeeperRequest, Subscriber } from "../../runtime/actor-type.js";
import { type Address, address } from "../../runtime/address.js";
import type { Fact, GateQuestion, Turn } from "../../runtime/turn.js";
import type { WorkEvent, WorkFact, WorkQuestion } from "../tasks/work-event.js";
import { hookEventNames, hookEvents } from "./events.js";
import { OUT_OF_TIME, refusalOfFailure } from "./failure.js";
import type { JudgeHooks } from "./hook-judge.machine.js";
import type { FireHook } from "./hook-occurrence.machine.js";
import { FIRST_PLACE, type HookRow, judgeHooks } from "./judging.js";

/** How long the hooks on one before event have together (configuration API, Refusing an event). */
const BEFORE_EVENT_MS = 60_000;
/** What judging the hooks of an event may cost in the turn that it is heard in, in units; a judge does the rest. */
const UNITS_AT_ONCE = 15_000;

/** Fires the hooks that match an after event. */
export const firesAfterHooks: Subscriber = {
  name: "hooks on after events",
  facts: hookEventNames.filter((name) => hookEvents[name].timing === "after"),
  handle: (fact: Fact, turn) => {
    const { work } = fact as WorkFact;
    const { fires, next } = judgeHooks(turn, work, { from: FIRST_PLACE, units: UNITS_AT_ONCE });
    for (const hook of fires) fireHook(turn, hook, work);
    if (next !== null) turn.send(judgeOf(work), judgingFrom(next, work));
  },
};

/** Lets the hooks that match a before event decide whether it may happen. */
export const keepsBeforeHooks: Gate = {
  name: "hooks on before events",
  questions: hookEventNames.filter((name) => hookEvents[name].timing === "before"),
  boundMs: BEFORE_EVENT_MS,
  gatekeepers: (question: GateQuestion, _partition, reading) => {
    const { work } = question as WorkQuestion;
    const { fires, next } = judgeHooks(reading, work, { from: FIRST_PLACE, units: UNITS_AT_ONCE });
    const asked = fires.map((hook) => requestTo(hook, work));
    return next === null ? asked : [...asked, { to: judgeOf(work), message: judgingFrom(next, work) }];
  },
};

/** Fires a hook on an after event. */
export function fireHook(turn: Turn, hook: HookRow, work: WorkEvent): void {
  const { to, message } = requestTo(hook, work);
  turn.send(to, message);
}

/** What a hook is asked by a before event. One that is never heard of again goes by its `failure`. */
export function requestTo(hook: HookRow, work: WorkEvent): GatekeeperRequest {
  const message: FireHook = { type: "hook.fire", hookId: hook.id, work, resends: null };
  const to = address(work.workspaceId, "hook-occurrence", firingId(work, hook));
  return { to, message, whenSilent: refusalOutOfTime(hook) };
}

/** Why a hook refuses a before event whose time is over; null when it lets it go on. */
export function refusalOutOfTime({ fields }: HookRow): string | null {
  const step = fields.steps[0]?.name ?? "";
  return fields.failure === "block" ? refusalOfFailure({ hook: fields.key, step, reason: OUT_OF_TIME }) : null;
}

function judgeOf({ workspaceId, teamId }: WorkEvent): Address {
  return address(workspaceId, "hook-judge", teamId);
}

function judgingFrom(from: JudgeHooks["from"], work: WorkEvent): JudgeHooks {
  return { type: "hook.judge", work, from };
}

/** One firing for each occurrence and hook, with an id that sorts by the occurrence's time. */
export function firingId(work: WorkEvent, hook: HookRow): string {
  return `${work.occurrence}-${hook.id.slice(-8)}`;
}
