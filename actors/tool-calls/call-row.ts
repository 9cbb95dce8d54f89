import type { Turn, TurnReading } from "../../runtime/turns/turn.js";
import type { CallInputs } from "../runners/call-inputs.js";
import { parseInputs } from "../runners/call-inputs.js";
import type { RunRow } from "../runs/run.js";
import { runs } from "../runs/run.table.js";
import type { AskToolCall } from "../runs/tool-call.messages.js";
import { readStoredText, type StoredText, toStoredText } from "../tables/text-blobs.js";
import { timeText } from "../time-text.js";
import { toAskedDigest } from "./asked-digest.js";
import { addUse } from "./call-use.js";
import { toEditedNote } from "./request-result.js";
import type { ToolCallContext, ToolCallRow } from "./tool-call.js";
import { toolCalls } from "./tool-call.table.js";

/** Returns the row of this turn's call. */
export function getCall(turn: TurnReading, { runId }: Pick<ToolCallContext, "runId">): ToolCallRow {
  const row = toolCalls.get(turn, turn.self.partition, runId, turn.self.id);
  if (row === undefined) throw new Error("a tool call without its row");
  return row;
}

/** Returns the run of a call. The run exists while the call is open. */
export function getRunOfCall(turn: TurnReading, runId: string): RunRow {
  const run = runs.get(turn, turn.self.partition, runId);
  if (run === undefined) throw new Error("a tool call without its run");
  return run;
}

/** Changes the row of this turn's call, and returns the new row. */
export function changeCall(
  turn: Turn,
  context: Pick<ToolCallContext, "runId">,
  change: Partial<ToolCallRow>,
): ToolCallRow {
  const before = getCall(turn, context);
  const after = { ...before, ...change };
  toolCalls.put(turn, turn.self.partition, before, after);
  return after;
}

/** Inserts the row of a new call. `inputs` is a JSON text. */
export function insertCall(
  turn: Turn,
  ask: AskToolCall,
  of: Pick<ToolCallRow, "integrationId" | "state" | "rule" | "actsAs"> &
    Partial<Omit<ToolCallRow, "inputs">> & { readonly inputs: string },
): ToolCallRow {
  const { partition, id } = turn.self;
  const { runId, server: integration, tool } = ask;
  const { taskId, teamId } = getRunOfCall(turn, runId);
  const { inputs, ...more } = of;
  const row: ToolCallRow = {
    id,
    runId,
    taskId,
    teamId,
    integration,
    tool,
    askedDigest: toAskedDigest(ask),
    inputs: toStoredText(turn, partition, inputs),
    edited: null,
    output: null,
    code: null,
    message: null,
    approvalId: null,
    method: null,
    askedAt: timeText(turn.now),
    begunAt: null,
    endedAt: null,
    ...more,
  };
  toolCalls.insert(turn, partition, row);
  addUse(turn, runId, { calls: 1, bytes: Buffer.byteLength(inputs) });
  return row;
}

/** `<integration>.<tool>` */
export function toName({ integration, tool }: Pick<ToolCallRow, "integration" | "tool">): string {
  return `${integration}.${tool}`;
}

/** Returns a note for the agent about inputs that a person changed; undefined if nobody changed them. */
export function readEditedNote(
  turn: TurnReading,
  { inputs, edited }: Pick<ToolCallRow, "inputs" | "edited">,
): string | undefined {
  if (edited === null) return undefined;
  const read = (stored: StoredText) => readStoredText(turn, turn.self.partition, stored);
  return read(edited) === read(inputs) ? undefined : toEditedNote(read(edited));
}

/** Returns the inputs of the call, with a person's edits. */
export function readInputs(turn: TurnReading, { inputs, edited }: Pick<ToolCallRow, "inputs" | "edited">): CallInputs {
  return parseInputs(readStoredText(turn, turn.self.partition, edited ?? inputs));
}
