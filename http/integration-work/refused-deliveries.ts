import type { RefuseDelivery } from "../../actors/integration-work/deliveries/delivery.messages.js";

/** Deliveries of one integration that were not verified. */
type Refused = Omit<RefuseDelivery, "type">;

interface ReceivingIntegration {
  readonly id: string;
  readonly workspaceId: string;
}

/** Those of one record that are kept with their headers. */
const MAX_LATEST = 20;

/** The record of an integration that is being written, and what came since. */
interface Writing {
  readonly written: Promise<void>;
  next: Refused | null;
  /** Settles when `next` is written; null while there is none. */
  nextWritten: Promise<void> | null;
}

/**
 * Records deliveries that were not verified. Of one integration one record is written at a time, with all that came while
 * the one before was: a flood needs no key, and has little written.
 */
export class RefusedDeliveries {
  readonly #write: (to: ReceivingIntegration, refused: Refused) => Promise<unknown>;
  /** By the id of the integration. */
  readonly #writing = new Map<string, Writing>();

  constructor(write: (to: ReceivingIntegration, refused: Refused) => Promise<unknown>) {
    this.#write = write;
  }

  /** Resolves when it is written; rejects when it could not be. */
  record(to: ReceivingIntegration, one: Refused["latest"][number]): Promise<void> {
    const writing = this.#writing.get(to.id);
    if (writing === undefined) return this.#begin(to, { count: 1, latest: [one] });
    const { count, latest } = writing.next ?? { count: 0, latest: [] };
    writing.next = { count: count + 1, latest: [one, ...latest].slice(0, MAX_LATEST) };
    const goOn = () => this.#begin(to, writing.next ?? { count: 0, latest: [] });
    writing.nextWritten ??= writing.written.then(goOn, goOn);
    return writing.nextWritten;
  }

  #begin(to: ReceivingIntegration, refused: Refused): Promise<void> {
    const written = this.#write(to, refused).then(
      () => this.#end(to),
      (error: unknown) => {
        this.#end(to);
        throw error;
      },
    );
    this.#writing.set(to.id, { written, next: null, nextWritten: null });
    return written;
  }

  /** Where something waits, it begins next. */
  #end({ id }: ReceivingIntegration): void {
    if (this.#writing.get(id)?.next === null) this.#writing.delete(id);
  }
}
