/** A handover that the agent requested, or that the service accepted. */
export interface Handover {
  readonly to: string;
  readonly note: string;
}

const STOPPING = "The run is being stopped.";
const GIVEN = "The run has handed over already.";

/** The handover requests of one run. The service accepts at most one. After a stop, all requests are rejected. */
export class Handovers {
  readonly #send: (id: string, wish: Handover) => void;
  readonly #prefix: string;
  readonly #answers = new Map<string, (refused: string | null) => void>();
  #asked = 0;
  #given: Handover | null = null;
  #closed = false;

  /** `send` sends a request to the service. All request ids start with `prefix`. */
  constructor(prefix: string, send: (id: string, wish: Handover) => void) {
    this.#prefix = prefix;
    this.#send = send;
  }

  get given(): Handover | null {
    return this.#given;
  }

  /** The reason why the run cannot request a handover now, or null. */
  get closedBecause(): string | null {
    if (this.#closed) return STOPPING;
    return this.#given === null ? null : GIVEN;
  }

  /**
   * Sends a request to the service. Resolves with null if the service accepts the handover, otherwise with the reason.
   * If {@link closedBecause} has a reason, sends nothing and resolves with that reason.
   */
  async ask(wish: Handover): Promise<string | null> {
    if (this.closedBecause !== null) return this.closedBecause;
    this.#asked += 1;
    const id = `${this.#prefix}-${this.#asked}`;
    const answered = new Promise<string | null>((resolve) => this.#answers.set(id, resolve));
    this.#send(id, wish);
    const refused = await answered;
    if (refused === null) this.#given = wish;
    return refused;
  }

  /** Handles the service's answer. */
  answer(id: string, refused: string | null): void {
    this.#answers.get(id)?.(refused);
    this.#answers.delete(id);
  }

  /** Rejects all open requests and all later requests. */
  close(): void {
    this.#closed = true;
    for (const id of [...this.#answers.keys()]) this.answer(id, STOPPING);
  }
}
