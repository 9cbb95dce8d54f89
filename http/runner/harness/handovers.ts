/** A handover that was given. */
export interface Handover {
  readonly to: string;
  readonly note: string;
}

const STOPPING = "The run is being stopped.";
const GIVEN = "The run has handed over already.";

/** The handovers that one run asks for: at most one is given, and after a stop none is asked for. */
export class Handovers {
  readonly #send: (id: string, wish: Handover) => void;
  readonly #prefix: string;
  readonly #answers = new Map<string, (refused: string | null) => void>();
  #asked = 0;
  #given: Handover | null = null;
  #closed = false;

  /** `send` asks the service; ids begin with `prefix`. */
  constructor(prefix: string, send: (id: string, wish: Handover) => void) {
    this.#prefix = prefix;
    this.#send = send;
  }

  get given(): Handover | null {
    return this.#given;
  }

  /** Why no handover may be asked for now; null when one may. */
  get closedBecause(): string | null {
    if (this.#closed) return STOPPING;
    return this.#given === null ? null : GIVEN;
  }

  /** Asks the service; null when the handover is given, else why not. */
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

  /** The service's answer. */
  answer(id: string, refused: string | null): void {
    this.#answers.get(id)?.(refused);
    this.#answers.delete(id);
  }

  /** Refuses what waits and what comes. */
  close(): void {
    this.#closed = true;
    for (const id of [...this.#answers.keys()]) this.answer(id, STOPPING);
  }
}
