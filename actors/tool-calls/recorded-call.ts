import type { ToolCall } from "../runners/tool-call.js";
import { runRef } from "../runs/run.messages.js";
import { readStoredText, type StoredText } from "../tables/text-blobs.js";
import { timeText } from "../time-text.js";
import { insertCall, readEditedNote } from "./call-row.js";
import { addUse } from "./call-use.js";
import type { CallEvent } from "./classify-tool-call.js";
import { toOutputText } from "./request-result.js";
import { sendAnswer } from "./tell-runner.js";
import type { RecordedCall } from "./tool-call.js";
import { endWithoutAnswer } from "./tool-call-ending.js";

const UNRECORDED = "This run replays an earlier run, which made no such call with these inputs. The call was not made.";

/**
 * Answers a call with the recorded outcome. If there is no recorded outcome, refuses the call. Asks no hooks or people,
 * and sends no request.
 */
export function answerRecorded({ turn, ask, recorded }: CallEvent<"ask.recorded">): void {
  const { partition, id: callId } = turn.self;
  const { runId, runnerId, fence, askId, server, tool } = ask;
  const read = (stored: StoredText) => readStoredText(turn, partition, stored);
  const answer = recorded === undefined ? unrecorded : toAnswer(recorded);
  const inputs = recorded === undefined ? ask.inputs : read(recorded.inputs);
  const { told, message, output, state: outcome } = answer;
  insertCall(turn, ask, { ...answer, rule: null, inputs, endedAt: timeText(turn.now) });
  if (output !== null) addUse(turn, runId, { calls: 0, bytes: Buffer.byteLength(read(output)) });
  const answered = output === null ? message : null;
  const text =
    told === undefined ? (answered ?? toOutputText(output === null ? null : read(output), null)) : read(told);
  const note = recorded === undefined ? undefined : readEditedNote(turn, recorded);
  sendAnswer(turn, { runId, runnerId, fence, asks: [askId] }, { outcome, text, note, callId });
  const call: ToolCall = { server, tool, failed: outcome === "failed", refusedBy: refusers[outcome] };
  turn.send(runRef(partition, runId), { type: "call.over", call, isRecorded: recorded !== undefined });
  endWithoutAnswer(turn, runId);
}

/** The members that a call of a repeating run copies from the recorded call. */
type Answer = Pick<
  RecordedCall,
  "integrationId" | "actsAs" | "edited" | "state" | "code" | "message" | "output" | "told" | "recorded"
>;

function toAnswer({ id, integrationId, actsAs, edited, state, code, message, output, told }: RecordedCall): Answer {
  return {
    integrationId,
    actsAs,
    edited,
    state,
    code,
    message,
    output,
    recorded: id,
    ...(told !== undefined && { told }),
  };
}

const unrecorded: Answer = {
  integrationId: "",
  actsAs: "team",
  edited: null,
  state: "refused",
  code: null,
  message: UNRECORDED,
  output: null,
};

/** Who refused the call, by its final state. */
const refusers: Readonly<Record<RecordedCall["state"], ToolCall["refusedBy"]>> = {
  done: null,
  failed: null,
  dismissed: "person",
  refused: "service",
};
