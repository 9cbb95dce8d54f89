import { toChangeEntry, topic } from "../../runtime/topic.js";
import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import { indexedTable } from "../tables/indexed-table.js";
import { digestsOfText } from "../tables/text-blobs.js";
import type { RecordedCall, ToolCallRow } from "./tool-call.js";
import { type StreamedToolCall, streamedToolCallView } from "./tool-call.view.js";

/** What the streams of a run publish of its calls. */
const runTopic = topic<{ readonly type: "tool-call"; readonly call: StreamedToolCall }>("run");

/** `[run, call]`; ids rise with time. Calls with the same `askedDigest` are found in the order in which they were asked for. */
export const toolCalls = indexedTable<ToolCallRow>("tool-call", {
  ...{ under: ["runId"], order: ["id"] },
  indexes: { "tool-call-asked": ["runId", "askedDigest"] },
  blobs: ({ inputs, edited, output, told, task }) =>
    [inputs, edited ?? "", output ?? "", told ?? "", task ?? ""].flatMap(digestsOfText),
  changes: (call) => [toChangeEntry(runTopic(call.runId), { type: "tool-call", call: streamedToolCallView(call) })],
});

/** What the calls of a run take so far. */
export interface CallUse {
  /** Calls that it has made. */
  readonly calls: number;
  /** Bytes of their inputs and outputs. */
  readonly bytes: number;
  /** Calls that wait for a person now. */
  readonly waiting: number;
  /** Since when one or more wait, in milliseconds since 1970; 0 while none does. */
  readonly waitingSinceMs: number;
  /** How long calls have waited before that, those at the same time counted once; in milliseconds. */
  readonly waitedMs: number;
}

/** `[run]` */
export const callUses = table<CallUse>("tool-call-use");

/** The calls of a run with the same tool and inputs, in the order in which they were asked for. */
function listEqualCalls(
  reading: Reading,
  workspaceId: string,
  { runId, askedDigest }: Pick<ToolCallRow, "runId" | "askedDigest">,
): ToolCallRow[] {
  return toolCalls.all(reading, workspaceId, { runId, askedDigest }).reverse();
}

/**
 * The recorded call that answers the next call of a run that repeats another: of the same tool with equal inputs, as the
 * agents gave them. The n-th such call of the run is answered by the n-th of the repeated one, later ones by its last.
 * Undefined when that made none.
 */
export function findRecordedCall(
  reading: Reading,
  workspaceId: string,
  { runId, repeats, askedDigest }: Pick<ToolCallRow, "runId" | "askedDigest"> & { readonly repeats: string },
): RecordedCall | undefined {
  const recorded = listEqualCalls(reading, workspaceId, { runId: repeats, askedDigest }).filter(isRecorded);
  const before = listEqualCalls(reading, workspaceId, { runId, askedDigest }).length;
  return recorded[before] ?? recorded.at(-1);
}

function isRecorded(call: ToolCallRow): call is RecordedCall {
  const { state } = call;
  return state === "done" || state === "failed" || state === "dismissed" || state === "refused";
}
