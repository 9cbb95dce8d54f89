/** An acknowledged task. */
export interface OpenedTask {
  readonly key: string;
  readonly id: string;
  readonly title: string;
}

/** An accepted delivery, and the title of the task that it opens. */
export interface OpenedByDelivery {
  readonly key: string;
  readonly title: string;
}

/** An acknowledged note on a task; all texts are different. */
export interface SaidNote {
  readonly taskId: string;
  readonly text: string;
}

/** An acknowledged resource. */
export interface CreatedResource {
  readonly name: string;
  readonly id: string;
}

/** A started agent. */
export interface AgentStart {
  readonly pid: number;
  readonly runId: string;
  readonly taskId: string;
}

/** The answers to clients over all rounds of a store, and the complaints so far. */
export class Ledger {
  readonly secrets: CreatedResource[] = [];
  readonly tasks: OpenedTask[] = [];
  readonly notes: SaidNote[] = [];
  readonly deliveries: OpenedByDelivery[] = [];
  /** Broken promises that were observed during a round, before the checks at its end. */
  readonly complaints: string[] = [];
  #acknowledged = 0;
  #hear: () => void = () => undefined;

  /** Number of writes that were answered with success. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  acknowledge(): void {
    this.#acknowledged += 1;
    this.#hear();
  }

  /**
   * Resolves when the next write is acknowledged, before other work runs in the event loop. Only the latest promise
   * resolves.
   */
  nextAcknowledged(): Promise<void> {
    return new Promise((resolve) => {
      this.#hear = resolve;
    });
  }
}
