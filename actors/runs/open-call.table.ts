import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";

/** An open tool call of a run: it has not ended. */
export interface OpenCall {
  /** The ids that the runner gave to the call. The outcome goes to each of them. */
  readonly asks: readonly string[];
  /** The ids in `asks` that the runner has cancelled: they need no outcome. */
  readonly cancelled: readonly string[];
  /**
   * Digest that identifies equal calls (`tool-calls/asked-digest.ts`). Absent until the call is accepted, and in calls
   * of earlier releases.
   */
  readonly askedDigest?: string;
}

/** Key: `[run, call]`. Inserted when the run passes the call on, deleted when the call ends. */
export const openCalls = table<OpenCall>("open-tool-call");

/** Lists the open calls of a run with their ids, oldest first. */
export function listOpenCalls(
  reading: Reading,
  workspaceId: string,
  runId: string,
): readonly (OpenCall & { readonly callId: string })[] {
  return openCalls
    .entries(reading, workspaceId, [runId])
    .map(({ key, value }) => ({ callId: String(key.at(-1)), ...value }));
}

/** Finds the open call to which the runner gave the id `askId`. Returns the call's id; undefined if there is none. */
export function findCallOfAsk(
  reading: Reading,
  workspaceId: string,
  { runId, askId }: { readonly runId: string; readonly askId: string },
): string | undefined {
  return listOpenCalls(reading, workspaceId, runId).find(({ asks }) => asks.includes(askId))?.callId;
}
