import { writeJson } from "../../../actors/exact-json.js";
import { canonicalJson } from "../../../actors/resources/canonical-json.js";
import type { CallInputs } from "../../../actors/runners/call-inputs.js";
import {
  MAX_OPEN_TOOL_CALLS,
  type ToolAnswered,
  type ToolCalled,
  type ToolCancelled,
  type ToolWaiting,
} from "../../../actors/runners/run-tools.js";

/** A call that an agent requests, with the run's secrets masked. */
export interface ToolWish {
  readonly server: string;
  readonly tool: string;
  readonly inputs: CallInputs;
}

export interface ToolResult {
  readonly text: string;
  /** One additional sentence; absent if there is none. */
  readonly note?: string | undefined;
  readonly isError: boolean;
}

/** A client's request that waits for a call. */
export interface Waiter {
  /** Called with the reason for the wait (`the assignee's approval`), or with null when the call continues. */
  readonly waits: (what: string | null) => void;
  /** Called with the result of the call, at most once. */
  readonly answered: (result: ToolResult) => void;
}

/** A call without a result, or with a result that no request has received yet. */
export interface PendingCall {
  /** The id that the service assigned to the call; null until then. */
  readonly callId: string | null;
  /** What the call waits for; null if it does not wait for a person. */
  readonly waitsFor: string | null;
}

interface Call extends PendingCall {
  readonly wish: ToolWish;
  /** The call's tool and inputs as a text, to find equal calls. */
  readonly key: string;
  id: string;
  callId: string | null;
  waitsFor: string | null;
  isCancelled: boolean;
  result: ToolResult | null;
  waiter: Waiter | null;
}

export interface ToolCallsOptions {
  /** The prefix of all request ids. */
  readonly prefix: string;
  readonly send: (message: Omit<ToolCalled, "runId" | "fence"> | Omit<ToolCancelled, "runId" | "fence">) => void;
  /**
   * Called with true when the first call starts to wait for a person, and with false when no call waits for a person
   * any more.
   */
  readonly paused: (isPaused: boolean) => void;
}

/** Maximum number of results that no request has received yet. If there are more, the oldest result is dropped. */
const MAX_STORED_ANSWERS = 32;

const STOPPING: ToolResult = { text: "The run is being stopped.", isError: true };
const TOO_MANY: ToolResult = {
  text: `At most ${MAX_OPEN_TOOL_CALLS} calls may be open at once: wait for one of them.`,
  isError: true,
};

/**
 * The tool calls of one run's agent, from its clients' requests to the service and back.
 *
 * 1. If no request waits for a call any more, a new request with the same tool and inputs attaches to that call. If
 *    the call has a result, the request gets it at once. Each result goes to one request.
 * 2. Any other request goes to the service, which makes equal calls once (rule 5 of `actors/runners/run-tools.ts`).
 * 3. Open calls and undelivered results are limited.
 */
export class ToolCalls {
  readonly #options: ToolCallsOptions;
  readonly #calls = new Set<Call>();
  #asked = 0;
  #isPaused = false;
  #isClosed = false;

  constructor(options: ToolCallsOptions) {
    this.#options = options;
  }

  /** Starts to wait for a call. Returns null if the waiter was answered at once. */
  wait(wish: ToolWish, waiter: Waiter): PendingCall | null {
    if (this.#isClosed) return answer(waiter, STOPPING);
    const key = canonicalJson([wish.server, wish.tool, wish.inputs]);
    const left = [...this.#calls].find((call) => call.key === key && call.waiter === null);
    if (left !== undefined) return this.#attach(left, waiter);
    if (this.#open.length >= MAX_OPEN_TOOL_CALLS) return answer(waiter, TOO_MANY);
    const call: Call = {
      wish,
      key,
      id: "",
      callId: null,
      waitsFor: null,
      isCancelled: false,
      result: null,
      waiter,
    };
    this.#calls.add(call);
    this.#ask(call);
    return call;
  }

  /** Detaches the waiting request from the call. The call continues, and an equal request can attach to it. */
  detach(pending: PendingCall): void {
    const call = this.#find(pending);
    if (call !== undefined) call.waiter = null;
  }

  /**
   * Detaches the waiting request like {@link ToolCalls.detach}, and tells the service, which ends the call if the call
   * has not started. Call it when the client cancels its request.
   */
  cancel(pending: PendingCall): void {
    const call = this.#find(pending);
    if (call === undefined) return;
    call.waiter = null;
    call.isCancelled = true;
    call.waitsFor = null;
    this.#tellPaused();
    this.#options.send({ type: "run.tool-cancelled", id: call.id });
  }

  /** Handles the service's report that a call waits for a person, or continues. */
  waiting({ id, callId, for: what }: Pick<ToolWaiting, "id" | "callId" | "for">): void {
    const call = this.#open.find((open) => open.id === id);
    if (call === undefined || call.isCancelled) return;
    call.callId = callId;
    call.waitsFor = what;
    this.#tellPaused();
    call.waiter?.waits(what);
  }

  /** Handles the service's answer. */
  answered({ id, outcome, text, note }: Pick<ToolAnswered, "id" | "outcome" | "text" | "note">): void {
    const call = this.#open.find((open) => open.id === id);
    if (call === undefined) return;
    if (call.isCancelled && outcome === "withdrawn") return this.#withdrawn(call);
    call.waitsFor = null;
    this.#tellPaused();
    this.#give(call, { text, isError: outcome !== "done", ...(note !== undefined && { note }) });
  }

  /** Cancels every call, and answers every request with an error. Later requests are rejected. */
  close(): void {
    this.#isClosed = true;
    const [open, calls] = [this.#open, [...this.#calls]];
    this.#calls.clear();
    for (const { id, isCancelled } of open) if (!isCancelled) this.#options.send({ type: "run.tool-cancelled", id });
    for (const { waiter } of calls) waiter?.answered(STOPPING);
    this.#tellPaused();
  }

  get #open(): readonly Call[] {
    return [...this.#calls].filter(({ result }) => result === null);
  }

  /** Returns the call if it is pending and has no result yet, otherwise undefined. */
  #find(pending: PendingCall): Call | undefined {
    return [...this.#calls].find((call) => call === pending && call.result === null);
  }

  #ask(call: Call): void {
    this.#asked += 1;
    call.id = `${this.#options.prefix}-${this.#asked}`;
    call.isCancelled = false;
    const { server, tool, inputs } = call.wish;
    this.#options.send({ type: "run.tool-call", id: call.id, server, tool, inputs: writeJson(inputs) });
  }

  #attach(call: Call, waiter: Waiter): PendingCall | null {
    if (call.result !== null) {
      this.#calls.delete(call);
      return answer(waiter, call.result);
    }
    call.waiter = waiter;
    if (call.waitsFor !== null) waiter.waits(call.waitsFor);
    return call;
  }

  /**
   * Handles the service's report that a cancelled call ended before it started. Removes the call. If a request has
   * attached to the call since the cancellation, sends the call again instead.
   */
  #withdrawn(call: Call): void {
    if (call.waiter === null) this.#calls.delete(call);
    else this.#ask(call);
  }

  #give(call: Call, result: ToolResult): void {
    if (call.waiter !== null) {
      this.#calls.delete(call);
      call.waiter.answered(result);
      return;
    }
    call.result = result;
    const answeredCalls = [...this.#calls].filter((other) => other.result !== null);
    if (answeredCalls.length > MAX_STORED_ANSWERS && answeredCalls[0] !== undefined)
      this.#calls.delete(answeredCalls[0]);
  }

  #tellPaused(): void {
    const isPaused = [...this.#calls].some(({ waitsFor }) => waitsFor !== null);
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    this.#options.paused(isPaused);
  }
}

function answer(waiter: Waiter, result: ToolResult): null {
  waiter.answered(result);
  return null;
}
