import { toChangeEntry, topic } from "../../runtime/feeds/topic.js";
import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import { runs } from "../runs/run.table.js";
import { indexedTable } from "../tables/indexed-table.js";
import { indexedOwnedBy, type OwnedRows, ownedBy } from "../tables/owned-rows.js";
import { derivedRows } from "../tables/table-declaration.js";
import { digestsOfText } from "../tables/text-blobs.js";
import type { RecordedCall, ToolCallRow } from "./tool-call.js";
import { type StreamedToolCall, streamedToolCallView } from "./tool-call.view.js";

/** The changes of a run's calls, as the run's stream publishes them. */
const runTopic = topic<{ readonly type: "tool-call"; readonly call: StreamedToolCall }>("run");

/** Key: `[call]`. Value: the call's run. */
const callRuns = table<string>("tool-call-run");

/**
 * Key: `[run, call]`. Ids increase with time. The index lists calls with the same `askedDigest` in the order of their
 * requests.
 */
export const toolCalls = indexedTable<ToolCallRow>("tool-call", {
  under: ["runId"],
  order: ["id"],
  indexes: { "tool-call-asked": ["runId", "askedDigest"] },
  derived: [{ ...derivedRows(callRuns, ({ id, runId }: ToolCallRow) => [[[id], runId]]), isSame: () => true }],
  blobs: ({ inputs, edited, output, told, task }) =>
    [inputs, edited ?? "", output ?? "", told ?? "", task ?? ""].flatMap(digestsOfText),
  changes: (call) => [toChangeEntry(runTopic(call.runId), { type: "tool-call", call: streamedToolCallView(call) })],
});

/** What a run's calls have used so far. The limits for calls apply to these numbers. */
export interface CallUse {
  /** Number of calls made. */
  readonly calls: number;
  /** Total bytes of inputs and outputs. */
  readonly bytes: number;
  /** Number of calls that wait for a person now. */
  readonly waiting: number;
  /** Start of the current waiting period, in milliseconds since 1970; 0 while no call waits. */
  readonly waitingSinceMs: number;
  /** Total length of earlier waiting periods, in milliseconds. Simultaneous waits count once. */
  readonly waitedMs: number;
}

/** Key: `[run]`. */
export const callUses = table<CallUse>("tool-call-use");

/** Lists the calls of a run with the same tool and inputs, in the order of their requests. */
function listEqualCalls(
  reading: Reading,
  workspaceId: string,
  { runId, askedDigest }: Pick<ToolCallRow, "runId" | "askedDigest">,
): ToolCallRow[] {
  return toolCalls.all(reading, workspaceId, { runId, askedDigest }).reverse();
}

/**
 * Finds the recorded call that answers the next call of a repeating run. The recorded call has the same tool and equal
 * inputs, as the agents gave them. If there are several such calls, the n-th call of the repeating run gets the n-th
 * recorded call. Further calls get the last recorded call. Returns undefined if the repeated run made no such call.
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

/** The rows of calls are removed with their run. */
export const toolCallsOwned: readonly OwnedRows[] = [
  indexedOwnedBy(runs.name, toolCalls),
  ownedBy(runs.name, callUses),
];

/** Finds the run of the call with this id; undefined if there is none. */
export function findRunOfCall(reading: Reading, workspaceId: string, callId: string): string | undefined {
  return callRuns.get(reading, workspaceId, callId);
}
