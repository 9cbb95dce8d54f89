import type { RefuseDelivery } from "../../actors/integration-work/deliveries/delivery.messages.js";

/** Deliveries of one integration that failed verification. */
type Refused = Omit<RefuseDelivery, "type">;

interface ReceivingIntegration {
  readonly id: string;
  readonly workspaceId: string;
}

/**
 * Maximum number of deliveries that one record describes. The record describes the latest deliveries and only counts
 * the earlier ones.
 */
const MAX_LATEST = 20;

/**
 * The record of an integration that is being written. `next` describes the deliveries that arrived since the write
 * started.
 */
interface Writing {
  readonly written: Promise<void>;
  next: Refused | null;
  /** Settles when `next` is written; null if nothing is queued. */
  nextWritten: Promise<void> | null;
}

/**
 * Records deliveries that failed verification. Writes one record per integration at a time. The next record contains
 * all deliveries that arrived during the previous write. Anyone can send such deliveries without a secret, and so many
 * of them cause only few writes.
 */
export class RefusedDeliveries {
  readonly #write: (to: ReceivingIntegration, refused: Refused) => Promise<unknown>;
  /** The writes in progress, by integration id. */
  readonly #writing = new Map<string, Writing>();

  constructor(write: (to: ReceivingIntegration, refused: Refused) => Promise<unknown>) {
    this.#write = write;
  }

  /** Resolves when the delivery is recorded. Rejects if the write fails. */
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

  /**
   * Removes the entry of the integration when its write has ended. If another record is queued, keeps the entry:
   * `nextWritten` then starts the next write.
   */
  #end({ id }: ReceivingIntegration): void {
    if (this.#writing.get(id)?.next === null) this.#writing.delete(id);
  }
}
