/** A handover that was asked for or given. */
export interface Handover {
  readonly to: string;
  readonly note: string;
}

const STOPPING = "The run is being stopped.";
const GIVEN = "The run has handed over already.";

/** The handovers that one run asks for. At most one is given; after a stop, none can be asked for. */
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

  /** Why no handover may be asked for now, or null. */
  get closedBecause(): string | null {
    if (this.#closed) return STOPPING;
    return this.#given === null ? null : GIVEN;
  }

  /** Asks the service; resolves with null when the handover is given, otherwise with the reason. */
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

  /** Refuses waiting and later handovers. */
  close(): void {
    this.#closed = true;
    for (const id of [...this.#answers.keys()]) this.answer(id, STOPPING);
  }
}
