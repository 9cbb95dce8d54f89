/**
 * Judges hooks whose events would take too long in one turn, `hook-judge/<team id>`: events wait in rows, and each
 * wake-up takes the first of them on by what one turn may cost. Before events go first. So a team with many dear
 * conditions holds up nobody but itself.
 *
 * | state   | moved by                            | next    | also                                             |
 * |---------|-------------------------------------|---------|--------------------------------------------------|
 * | judging | hook.judge, not known yet           | judging | the event waits; wake-up at once                 |
 * | judging | woken, hooks or events are left     | judging | fires what matches; wake-up at once              |
 * | judging | woken, none is left                 | judging | fires what matches; answers its gate; stops      |
 * | judging | keeper.late, its event waits        | judging | from here on only match lists count, and a hook  |
 * |         |                                     |         | that blocks on failure refuses                   |
 */
import { setup } from "xstate";
import type {
  ActorType,
  CallGatekeepers,
  GatekeeperAnswer,
  GatekeeperTimedOut,
  ReplyTo,
} from "../../runtime/actor-type.js";
import type { Delivered, Message, Turn, Woken } from "../../runtime/turn.js";
import { table } from "../../storage/table.js";
import type { WorkEvent } from "../tasks/work-event.js";
import { fireHook, refusalOutOfTime, requestTo } from "./firing.js";
import { ENOUGH_FOR_ONE, type HookRow, type JudgingPlace, judgeHooks } from "./judging.js";

export interface JudgeHooks extends Message {
  readonly type: "hook.judge";
  readonly work: WorkEvent;
  readonly from: JudgingPlace;
  /** Set by the runtime when a before event waits for the answer. */
  readonly gate?: ReplyTo;
}

/** An event some of whose hooks are not judged yet. */
interface Waiting {
  readonly work: WorkEvent;
  readonly from: JudgingPlace;
  readonly gate: ReplyTo | null;
  readonly isLate: boolean;
}

/** `[team, rank, occurrence]`, in the order in which they are taken on. */
const waiting = table<Waiting>("hook-judging");
const BEFORE_EVENTS = 0;
const AFTER_EVENTS = 1;
const JUDGE = "judge";

type JudgeEvent = Delivered<JudgeHooks | Woken | GatekeeperTimedOut>;

const machine = setup({
  types: { events: {} as JudgeEvent },
  guards: {
    isNew: ({ event }) => event.type === "hook.judge" && known(event) === undefined,
    waits: ({ event }) => event.type === "keeper.late" && lateOne(event) !== undefined,
  },
  actions: {
    note: ({ event }) => {
      if (event.type === "hook.judge") note(event);
    },
    goOn: ({ event }) => goOn(event.turn),
    hurry: ({ event }) => {
      if (event.type === "keeper.late") hurry(event);
    },
  },
}).createMachine({
  id: "hook-judge",
  initial: "judging",
  states: {
    judging: {
      on: {
        "hook.judge": { guard: "isNew", actions: "note" },
        woken: { actions: "goOn" },
        "keeper.late": { guard: "waits", actions: "hurry" },
      },
    },
  },
});

/** See the table above. */
export const hookJudgeActor: ActorType = { kind: "hook-judge", machine, version: 1 };

function idOf(turn: Turn, { work, gate }: Pick<JudgeHooks, "work"> & { readonly gate?: ReplyTo | null }) {
  return [turn.self.id, gate == null ? AFTER_EVENTS : BEFORE_EVENTS, work.occurrence] as const;
}

function known({ turn, ...judge }: Delivered<JudgeHooks>): Waiting | undefined {
  return waiting.get(turn, turn.self.partition, ...idOf(turn, judge));
}

function note({ turn, work, from, gate }: Delivered<JudgeHooks>): void {
  // With others waiting a wake-up is set already; setting it anew would put it off.
  const isFirst = waiting.list(turn, turn.self.partition, [turn.self.id], { limit: 1 }).length === 0;
  put(turn, { work, from, gate: gate ?? null, isLate: false });
  if (isFirst) turn.wake(JUDGE, turn.now);
}

function put(turn: Turn, row: Waiting): void {
  waiting.put(turn, turn.self.partition, idOf(turn, row), row);
}

/** Takes the first event on. */
function goOn(turn: Turn): void {
  const [row, more] = waiting.list(turn, turn.self.partition, [turn.self.id], { limit: 2 });
  if (row === undefined) return turn.stop();
  const { work, from, gate, isLate } = row;
  const by = isLate ? "match lists" : "all conditions";
  const { fires, next } = judgeHooks(turn, work, { from, units: ENOUGH_FOR_ONE, by });
  const refused = isLate ? firstRefusal(fires) : null;
  const isOver = next === null || refused !== null;
  if (gate === null) for (const hook of fires) fireHook(turn, hook, work);
  else if (!isLate) callHooks(turn, gate, { work, fires });
  if (isOver && gate !== null) {
    const answer: GatekeeperAnswer = { type: "keeper.answered", key: gate.key, refused };
    turn.send(gate.replyTo, answer);
  }
  if (isOver) waiting.remove(turn, turn.self.partition, ...idOf(turn, row));
  else put(turn, { ...row, from: next });
  if (isOver && more === undefined) turn.stop();
  else turn.wake(JUDGE, turn.now);
}

/** Lets hooks on a before event decide, too. */
function callHooks(
  turn: Turn,
  { replyTo, key }: ReplyTo,
  { work, fires }: { readonly work: WorkEvent; readonly fires: readonly HookRow[] },
): void {
  if (fires.length === 0) return;
  const call: CallGatekeepers = { type: "keeper.called", key, requests: fires.map((hook) => requestTo(hook, work)) };
  turn.send(replyTo, call);
}

/** Why one of the hooks that were not judged in time refuses: it might have fired, and blocks on failure. */
function firstRefusal(hooks: readonly HookRow[]): string | null {
  for (const hook of hooks) {
    const refused = refusalOutOfTime(hook);
    if (refused !== null) return refused;
  }
  return null;
}

function lateOne({ turn, key, replyTo }: Delivered<GatekeeperTimedOut>): Waiting | undefined {
  return waiting
    .list(turn, turn.self.partition, [turn.self.id, BEFORE_EVENTS])
    .find(({ gate, isLate }) => gate?.key === key && gate.replyTo.id === replyTo.id && !isLate);
}

function hurry(event: Delivered<GatekeeperTimedOut>): void {
  const row = lateOne(event);
  if (row !== undefined) put(event.turn, { ...row, isLate: true });
}
