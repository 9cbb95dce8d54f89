import type { Clock } from "../../../runtime/clock.js";
import type { PendingCall, ToolCalls, ToolResult, ToolWish } from "./tool-calls.js";

/**
 * Interval of progress messages to clients that support progress, in milliseconds. Clients give up after a minute
 * without a message.
 */
export const PROGRESS_EVERY_MS = 15_000;
/** Maximum wait of a client without progress support, in milliseconds. Such a client gives up after a minute. */
export const ANSWER_WITHIN_MS = 50_000;

/** A client's request for a call. */
export interface ToolRequest {
  /** Aborted when the client cancels the request, or disconnects. */
  readonly signal: AbortSignal;
  /** Sends a progress message to the client; null if the client did not ask for progress. */
  readonly progress: ((text: string) => void) | null;
}

const GIVEN_UP: ToolResult = { text: "The request was given up.", isError: true };

/**
 * Makes a call, and answers the client's request before the client times out. The answer is the call's result or, for a
 * client without progress support, the advice to call again. Never rejects.
 */
export function awaitCall(
  calls: ToolCalls,
  wish: ToolWish,
  { clock, signal, progress }: ToolRequest & { readonly clock: Clock },
): Promise<ToolResult> {
  return new Promise((resolve) => {
    let cancelTimer: () => void = () => undefined;
    let call: PendingCall | null = null;
    const end = (result: ToolResult) => {
      cancelTimer();
      signal.removeEventListener("abort", giveUp);
      resolve(result);
    };
    const giveUp = () => {
      if (call !== null) calls.cancel(call);
      end(GIVEN_UP);
    };
    const say = (what: string | null) => progress?.(what === null ? "The call is under way." : `Waiting for ${what}.`);
    if (signal.aborted) return end(GIVEN_UP);
    call = calls.wait(wish, { waits: say, answered: end });
    if (call === null) return undefined;
    const pending = call;
    signal.addEventListener("abort", giveUp, { once: true });
    const beat = () => {
      cancelTimer = clock.at(clock.now() + PROGRESS_EVERY_MS, () => {
        say(pending.waitsFor);
        beat();
      });
    };
    if (progress !== null) return beat();
    cancelTimer = clock.at(clock.now() + ANSWER_WITHIN_MS, () => {
      calls.detach(pending);
      end({ text: toAdvice(pending), isError: false });
    });
    return undefined;
  });
}

/** The advice is not an error, because the agent would try something else after an error. */
function toAdvice({ callId, waitsFor }: PendingCall): string {
  const named = callId === null ? "" : ` (${callId})`;
  const what = waitsFor === null ? `The call${named} is under way.` : `The call waits for ${waitsFor}${named}.`;
  return `${what} Call again with the same inputs: that makes no second call, and gives the result of this one.`;
}
