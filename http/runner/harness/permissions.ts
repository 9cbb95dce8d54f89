import { type CallInputs, parseInputs } from "../../../actors/runners/call-inputs.js";
import type { ServiceMessage } from "../../../actors/runners/protocol.js";

/** A call that the agent requests permission for. */
export interface PermissionWish {
  readonly tool: string;
  readonly inputs: CallInputs;
  readonly reason: string;
}

/** The answer to the agent: the inputs for an approved call, or the reason of a dismissal, which may be null. */
export type PermissionAnswer =
  | { readonly inputs: CallInputs; readonly edited: boolean }
  | { readonly dismissed: string | null };

type Answered = Extract<ServiceMessage, { type: "run.permission-answered" }>;

interface Pending {
  readonly inputs: CallInputs;
  readonly answered: (answer: PermissionAnswer) => void;
}

/**
 * The permission requests of one run's agent. Each request is answered once, in any order. The service limits the
 * number of requests.
 */
export class Permissions {
  readonly #prefix: string;
  readonly #send: (id: string, wish: PermissionWish) => void;
  readonly #pending = new Map<string, Pending>();
  #asked = 0;

  /** `send` sends a request to the service. All request ids start with `prefix`. */
  constructor(prefix: string, send: (id: string, wish: PermissionWish) => void) {
    this.#prefix = prefix;
    this.#send = send;
  }

  ask(wish: PermissionWish, answered: (answer: PermissionAnswer) => void): void {
    this.#asked += 1;
    const id = `${this.#prefix}-${this.#asked}`;
    this.#pending.set(id, { inputs: wish.inputs, answered });
    this.#send(id, wish);
  }

  /** Handles the service's answer. A call that was approved without edits gets the agent's own inputs. */
  answer({ id, verdict, inputs, reason }: Pick<Answered, "id" | "verdict" | "inputs" | "reason">): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    if (verdict === "dismissed") return pending.answered({ dismissed: reason });
    const edited = inputs !== null;
    pending.answered({ inputs: edited ? parseInputs(inputs) : pending.inputs, edited });
  }
}
