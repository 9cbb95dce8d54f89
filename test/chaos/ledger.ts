/** A task that was acknowledged. */
export interface OpenedTask {
  readonly key: string;
  readonly id: string;
  readonly title: string;
}

/** A delivery that was taken, and the title of the task that it opens. */
export interface OpenedByDelivery {
  readonly key: string;
  readonly title: string;
}

/** Something that was said on a task and acknowledged; no two texts are the same. */
export interface SaidNote {
  readonly taskId: string;
  readonly text: string;
}

/** A resource that was acknowledged. */
export interface CreatedResource {
  readonly name: string;
  readonly id: string;
}

/** An agent that was started. */
export interface AgentStart {
  readonly pid: number;
  readonly runId: string;
  readonly taskId: string;
}

/** What clients were answered, over all rounds of a store, and what was complained of meanwhile. */
export class Ledger {
  readonly secrets: CreatedResource[] = [];
  readonly tasks: OpenedTask[] = [];
  readonly notes: SaidNote[] = [];
  readonly deliveries: OpenedByDelivery[] = [];
  /** What was seen to be wrong while it happened. */
  readonly complaints: string[] = [];
  #acknowledged = 0;
  #hear: () => void = () => undefined;

  /** How many requests were answered with success. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  acknowledge(): void {
    this.#acknowledged += 1;
    this.#hear();
  }

  /** Resolves with the next answer of success, in the same turn of the event loop. */
  nextAcknowledged(): Promise<void> {
    return new Promise((resolve) => {
      this.#hear = resolve;
    });
  }
}
