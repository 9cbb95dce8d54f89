import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";

/** A call of a run's tool that is not over. */
export interface OpenCall {
  /** The runner's ids of it, each of which gets the outcome. */
  readonly asks: readonly string[];
  /** Those of `asks` that were cancelled: nobody waits under them. */
  readonly cancelled: readonly string[];
  /** What makes it equal to another (`tool-calls/asked-digest.ts`); absent until it is taken, and in earlier releases. */
  readonly askedDigest?: string;
}

/** `[run, call]`: written when the run passes the call on, removed when the call ends. */
export const openCalls = table<OpenCall>("open-tool-call");

/** The open calls of a run by their ids, oldest first. */
export function listOpenCalls(
  reading: Reading,
  workspaceId: string,
  runId: string,
): readonly (OpenCall & { readonly callId: string })[] {
  return openCalls
    .entries(reading, workspaceId, [runId])
    .map(({ key, value }) => ({ callId: String(key.at(-1)), ...value }));
}

/** The open call that answers an id of the runner, or undefined. */
export function findCallOfAsk(
  reading: Reading,
  workspaceId: string,
  { runId, askId }: { readonly runId: string; readonly askId: string },
): string | undefined {
  return listOpenCalls(reading, workspaceId, runId).find(({ asks }) => asks.includes(askId))?.callId;
}
