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

/** A call that an agent wants to make, with the run's secrets masked. */
export interface ToolWish {
  readonly server: string;
  readonly tool: string;
  readonly inputs: CallInputs;
}

/** What an agent is answered. */
export interface ToolResult {
  readonly text: string;
  /** One sentence in addition, or absent. */
  readonly note?: string | undefined;
  readonly isError: boolean;
}

/** A client's request that waits for a call. */
export interface Waiter {
  /** The call waits for a person (`the assignee's approval`), or goes on (null). */
  readonly waits: (what: string | null) => void;
  /** Called at most once. */
  readonly answered: (result: ToolResult) => void;
}

/** A call without an answer, or with one that no request got yet. */
export interface PendingCall {
  /** The service's id of it; null until the service named it. */
  readonly callId: string | null;
  /** What it waits for; null when it waits for nobody. */
  readonly waitsFor: string | null;
}

interface Call extends PendingCall {
  readonly wish: ToolWish;
  /** Equal for the same tool and inputs. */
  readonly key: string;
  id: string;
  callId: string | null;
  waitsFor: string | null;
  isCancelled: boolean;
  result: ToolResult | null;
  waiter: Waiter | null;
}

export interface ToolCallsOptions {
  /** Ids begin with it. */
  readonly prefix: string;
  readonly send: (message: Omit<ToolCalled, "runId" | "fence"> | Omit<ToolCancelled, "runId" | "fence">) => void;
  /** Told when a call begins to wait for a person while no other does, and when none does any more. */
  readonly paused: (isPaused: boolean) => void;
}

/** Most answers that no request got yet; the oldest are dropped. */
const MAX_KEPT_ANSWERS = 32;

const STOPPING: ToolResult = { text: "The run is being stopped.", isError: true };
const TOO_MANY: ToolResult = {
  text: `At most ${MAX_OPEN_TOOL_CALLS} calls may be open at once: wait for one of them.`,
  isError: true,
};

/**
 * The calls of tools that one run's agent makes, from its clients' requests to the service and back.
 *
 * 1. A request whose tool and inputs are those of a call that no request waits for any more attaches to that call, or gets
 *    its answer at once. Each answer is given to one request.
 * 2. A request of its own otherwise asks the service, which makes equal calls once (rule 5 of `run-tools.ts`).
 * 3. Open calls, and answers that nobody got, are bounded.
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

  /** Begins to wait for a call. Null when the waiter was answered at once. */
  wait(wish: ToolWish, waiter: Waiter): PendingCall | null {
    if (this.#isClosed) return answer(waiter, STOPPING);
    const key = canonicalJson([wish.server, wish.tool, wish.inputs]);
    const left = [...this.#calls].find((call) => call.key === key && call.waiter === null);
    if (left !== undefined) return this.#attach(left, waiter);
    if (this.#open.length >= MAX_OPEN_TOOL_CALLS) return answer(waiter, TOO_MANY);
    const call: Call = {
      ...{ wish, key, id: "", callId: null, waitsFor: null, isCancelled: false, result: null, waiter },
    };
    this.#calls.add(call);
    this.#ask(call);
    return call;
  }

  /** The request that waited does so no longer; the call goes on, for an equal request to attach to. */
  leave(pending: PendingCall): void {
    const call = this.#find(pending);
    if (call !== undefined) call.waiter = null;
  }

  /** The same for a request that was given up: the service is told, and ends the call if it was not begun. */
  cancel(pending: PendingCall): void {
    const call = this.#find(pending);
    if (call === undefined) return;
    call.waiter = null;
    call.isCancelled = true;
    call.waitsFor = null;
    this.#tellPaused();
    this.#options.send({ type: "run.tool-cancelled", id: call.id });
  }

  /** The service says that a call waits for a person, or goes on. */
  waiting({ id, callId, for: what }: Pick<ToolWaiting, "id" | "callId" | "for">): void {
    const call = this.#open.find((open) => open.id === id);
    if (call === undefined || call.isCancelled) return;
    call.callId = callId;
    call.waitsFor = what;
    this.#tellPaused();
    call.waiter?.waits(what);
  }

  /** The service's answer. */
  answered({ id, outcome, text, note }: Pick<ToolAnswered, "id" | "outcome" | "text" | "note">): void {
    const call = this.#open.find((open) => open.id === id);
    if (call === undefined) return;
    if (call.isCancelled && outcome === "withdrawn") return this.#withdrawn(call);
    call.waitsFor = null;
    this.#tellPaused();
    this.#give(call, { text, isError: outcome !== "done", ...(note !== undefined && { note }) });
  }

  /** Gives every call up, and answers every request; later ones are refused. */
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

  /** Only while a request may wait for it. */
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

  /** A cancelled call was not begun: it is over, or asked anew for a request that attached to it meanwhile. */
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
    const kept = [...this.#calls].filter((other) => other.result !== null);
    if (kept.length > MAX_KEPT_ANSWERS && kept[0] !== undefined) this.#calls.delete(kept[0]);
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
