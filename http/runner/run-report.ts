import { type CheckoutResult, MAX_DIFF_BYTES, MAX_FRAME_BYTES, type RunEnding } from "../../actors/runners/protocol.js";
import { changesOf } from "./checkout/changes.js";
import type { Checkout } from "./checkout/checkout.js";
import { OutputTooLong } from "./checkout/git.js";
import { errorMessage, JobFailed } from "./job-failed.js";

/** Room for the parts of a report besides its diffs, in bytes of JSON. */
const REST_OF_FRAME = 2 * 1024 * 1024;

export interface Collected {
  readonly results: readonly CheckoutResult[];
  /** Why some changes are missing; null when none are. */
  readonly failed: JobFailed | null;
}

export interface CollectOptions {
  /** Kills git when aborted. */
  readonly signal: AbortSignal;
  /** Whether the run's own changes are told apart from those that it began with. */
  readonly own: boolean;
}

/** The changes in each checkout, as far as they can be read and fit into one frame. */
export async function collect(checkouts: readonly Checkout[], { signal, own }: CollectOptions): Promise<Collected> {
  const results: CheckoutResult[] = [];
  let failed: JobFailed | null = null;
  let room = MAX_FRAME_BYTES - REST_OF_FRAME;
  for (const checkout of checkouts) {
    const { repository, base, tree } = checkout;
    try {
      const options = { signal, maxBytes: MAX_DIFF_BYTES };
      const result: CheckoutResult = { repository, base, diff: await changesOf(checkout, options) };
      if ((own || checkout.merged !== null) && tree !== null)
        result.own = await changesOf({ ...checkout, base: tree }, options);
      // JSON may need more bytes for a character than the diff.
      const bytes = Buffer.byteLength(JSON.stringify(result));
      if (bytes > room) throw new OutputTooLong(`with it a report would take more than ${MAX_FRAME_BYTES} bytes`);
      room -= bytes;
      results.push(result);
    } catch (error) {
      failed ??= unread(repository, error);
    }
  }
  return { results, failed };
}

function unread(repository: string, error: unknown): JobFailed {
  if (!(error instanceof OutputTooLong)) {
    return new JobFailed("runner-error", `the changes to ${repository} could not be read`, errorMessage(error));
  }
  const message = `the changes to ${repository} are too large, a diff has at most ${MAX_DIFF_BYTES} bytes`;
  return new JobFailed("diff-too-large", message, error.message);
}

/** Most characters of a note in the log. */
const LOGGED_CHARACTERS = 200;

/** How the work of an agent that completed ended, in one line for the log. */
export function toSummary(ending: RunEnding, mask: (text: string) => string): string {
  const line = (text: string) =>
    mask(text)
      .slice(0, LOGGED_CHARACTERS)
      .replace(/\p{Cc}+/gu, " ");
  switch (ending.kind) {
    case "handover":
      return `completed, handed over to ${line(ending.to)}`;
    case "ask":
      return "completed, with a question";
    case "finish":
      return ending.note === "" ? "completed" : `completed, not handed over: ${line(ending.note)}`;
  }
}
