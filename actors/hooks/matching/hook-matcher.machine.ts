/**
 * Matches the hooks of an event if matching takes too long for one turn, `hook-judge/<team id>`. Rows store the waiting
 * events. Each wake-up spends the cost limit of one turn on the first waiting event; `before` events come first. So a
 * team with many expensive conditions delays only itself. There is only one state.
 *
 * | state   | moved by                            | next    | also                                             |
 * |---------|-------------------------------------|---------|--------------------------------------------------|
 * | judging | hook.judge, not waiting yet         | judging | the event waits; wake-up at once                 |
 * | judging | woken, hooks or events left         | judging | fires matching hooks; wake-up at once            |
 * | judging | woken, none left                    | judging | fires matching hooks; answers its gate; stops    |
 * | judging | keeper.late, its event waits        | judging | then evaluates only match lists; a match that    |
 * |         |                                     |         | blocks on failure refuses the event              |
 */
import type {
  CallGatekeepers,
  GatekeeperAnswer,
  GatekeeperTimedOut,
  ReplyTo,
} from "../../../runtime/cells/actor-type.js";
import { createChart, type NoContext } from "../../../runtime/cells/chart.js";
import { defineActor } from "../../../runtime/cells/define-actor.js";
import type { Delivered, Turn, Woken } from "../../../runtime/turns/turn.js";
import { table } from "../../../storage/table.js";
import type { WorkEvent } from "../../events/catalogue.js";
import { fireHook, timeoutRefusal, toFireRequest } from "./fire-hooks.js";
import { hookMatcherRef, type MatchHooks } from "./hook-matcher.messages.js";
import { type HookRow, MAX_MATCH_COST, type MatchCursor, matchHooks } from "./match-hooks.js";

/** An event whose hooks are not all matched yet. */
interface WaitingEvent {
  readonly work: WorkEvent;
  readonly from: MatchCursor;
  readonly gate: ReplyTo | null;
  readonly isLate: boolean;
}

/** Key: `[team, rank, occurrence]`, in processing order. */
export const waiting = table<WaitingEvent>("hook-judging");
const BEFORE_EVENTS = 0;
const AFTER_EVENTS = 1;
const MATCH = "judge";

const { on, choose, machine } = createChart<NoContext, MatchHooks | Woken | GatekeeperTimedOut>();

const hookMatcherMachine = machine({
  id: "hook-judge",
  initial: "judging",
  states: {
    judging: {
      on: {
        ...choose("hook.judge", { when: (event) => findWaiting(event) === undefined, act: enqueue }),
        ...on("woken", matchNext),
        ...choose("keeper.late", { when: (event) => findLate(event) !== undefined, act: markLate }),
      },
    },
  },
});

/** See the table above. */
export const hookMatcherActor = defineActor(hookMatcherRef, { machine: hookMatcherMachine, version: 1 });

function waitingKey(turn: Turn, { work, gate }: Pick<MatchHooks, "work"> & { readonly gate?: ReplyTo | null }) {
  return [turn.self.id, gate == null ? AFTER_EVENTS : BEFORE_EVENTS, work.occurrence] as const;
}

function findWaiting({ turn, ...message }: Delivered<MatchHooks>): WaitingEvent | undefined {
  return waiting.get(turn, turn.self.partition, ...waitingKey(turn, message));
}

function enqueue({ turn, work, from, gate }: Delivered<MatchHooks>): void {
  // If other events already wait, a wake-up is set. Setting the wake-up again would delay it.
  const isFirst = waiting.list(turn, turn.self.partition, [turn.self.id], { limit: 1 }).length === 0;
  put(turn, { work, from, gate: gate ?? null, isLate: false });
  if (isFirst) turn.wake(MATCH, turn.now);
}

function put(turn: Turn, row: WaitingEvent): void {
  waiting.put(turn, turn.self.partition, waitingKey(turn, row), row);
}

/** Matches the next hooks of the first waiting event. */
function matchNext({ turn }: Delivered<Woken>): void {
  const [row, more] = waiting.list(turn, turn.self.partition, [turn.self.id], { limit: 2 });
  if (row === undefined) return turn.stop();
  const { work, from, gate, isLate } = row;
  const by = isLate ? "match lists" : "all conditions";
  const { fires, next } = matchHooks(turn, work, { from, units: MAX_MATCH_COST, by });
  const refused = isLate ? firstRefusal(fires) : null;
  const isOver = next === null || refused !== null;
  if (gate === null) for (const hook of fires) fireHook(turn, hook, work);
  else if (!isLate) callMatchedHooks(turn, gate, { work, fires });
  if (isOver && gate !== null) {
    const answer: GatekeeperAnswer = { type: "keeper.answered", key: gate.key, refused };
    turn.send(gate.replyTo, answer);
  }
  if (isOver) waiting.remove(turn, turn.self.partition, ...waitingKey(turn, row));
  else put(turn, { ...row, from: next });
  if (isOver && more === undefined) turn.stop();
  else turn.wake(MATCH, turn.now);
}

/** Adds the newly matched hooks to the gate of a `before` event, so that these hooks also decide on the event. */
function callMatchedHooks(
  turn: Turn,
  { replyTo, key }: ReplyTo,
  { work, fires }: { readonly work: WorkEvent; readonly fires: readonly HookRow[] },
): void {
  if (fires.length === 0) return;
  const call: CallGatekeepers = {
    type: "keeper.called",
    key,
    requests: fires.map((hook) => toFireRequest(hook, work)),
  };
  turn.send(replyTo, call);
}

/**
 * Returns the refusal of the first hook that blocks on failure; null if none of these hooks does. Use it after the time
 * limit, when hooks match by their lists without `when`.
 */
function firstRefusal(hooks: readonly HookRow[]): string | null {
  for (const hook of hooks) {
    const refused = timeoutRefusal(hook);
    if (refused !== null) return refused;
  }
  return null;
}

function findLate({ turn, key, replyTo }: Delivered<GatekeeperTimedOut>): WaitingEvent | undefined {
  return waiting
    .list(turn, turn.self.partition, [turn.self.id, BEFORE_EVENTS])
    .find(({ gate, isLate }) => gate?.key === key && gate.replyTo.id === replyTo.id && !isLate);
}

function markLate(event: Delivered<GatekeeperTimedOut>): void {
  const row = findLate(event);
  if (row !== undefined) put(event.turn, { ...row, isLate: true });
}
