import type { GateAnswer, Turn } from "../../runtime/turns/turn.js";
import type { WorkQuestion } from "../events/catalogue.js";
import { recordWorkEvent } from "../events/event-task.js";
import type { RunnerMessage } from "../runners/protocol.js";
import { timeText } from "../time-text.js";
import type { RunContext, RunRow } from "./run.js";
import { runs } from "./run.table.js";
import { getEventSubject, getRunRow, sendToRunner } from "./run.transitions.js";
import type { RunOwner } from "./run-owner.js";

type HandoverWish = Extract<RunnerMessage, { type: "run.handover" }>;

const GATE = "handover.giving";

/**
 * Asks for a decision on the agent's handover. If the owner has a gate, hooks decide; otherwise the owner's fixed
 * answer applies. Refuses a handover to a station that is not in `passesTo` at once.
 */
export function askHandover(turn: Turn, context: RunContext, wish: HandoverWish, owner: RunOwner): RunContext {
  const { passesTo } = getRunRow(turn);
  if (!passesTo.includes(wish.to)) {
    const choices = passesTo.length === 0 ? "this station passes to none" : `choose ${passesTo.join(" or ")}`;
    answer(turn, context, wish.id, `There is no station ${wish.to} to hand over to: ${choices}.`);
    return context;
  }
  if (owner.handOver === "gate") return askGate(turn, context, wish, owner);
  decide(turn, context, wish, owner.handOver === "accepted" ? null : "This run cannot hand over its task.");
  return context;
}

function askGate(turn: Turn, context: RunContext, wish: HandoverWish, owner: RunOwner): RunContext {
  const question: WorkQuestion = {
    name: GATE,
    id: `${GATE} ${context.fence} ${wish.id}`,
    work: recordWorkEvent(turn, turn.self.partition, getEventSubject(turn, owner), {
      on: GATE,
      occurrence: turn.newId("occ"),
      run: { id: turn.self.id },
      event: { at: timeText(turn.now), to: wish.to, note: wish.note },
    }),
  };
  turn.askGate(question);
  return { ...context, handover: { id: wish.id, to: wish.to, question: question.id } };
}

/** Records the gate's answer and sends it to the agent. Ignores the answer to an earlier handover request. */
export function answerHandover(turn: Turn, context: RunContext, given: Pick<GateAnswer, "id" | "refused">): RunContext {
  const { handover } = context;
  if (handover === null || handover.question !== given.id) return context;
  decide(turn, context, handover, given.refused);
  return { ...context, handover: null };
}

/** Records the decision on a handover and sends it to the agent. `refused` is null for an accepted handover. */
function decide(
  turn: Turn,
  context: RunContext,
  { id, to }: Pick<HandoverWish, "id" | "to">,
  refused: string | null,
): void {
  const row = getRunRow(turn);
  runs.put(turn, turn.self.partition, row, { ...row, handover: { to, refused } });
  answer(turn, context, id, refused);
}

/** Whether the run's latest decided handover was accepted and was to the station `to`. */
export function mayHandOver(row: RunRow, to: string): boolean {
  return row.handover !== null && row.handover.to === to && row.handover.refused === null;
}

function answer(turn: Turn, context: RunContext, id: string, refused: string | null): void {
  const { fence } = context;
  sendToRunner(turn, context, { type: "run.handover-answered", runId: turn.self.id, fence, id, refused });
}
