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

/** The pending record of an integration, and the deliveries that arrived since its write started. */
interface Writing {
  readonly written: Promise<void>;
  next: Refused | null;
  /** Settles when `next` is written; null if nothing is queued. */
  nextWritten: Promise<void> | null;
}

/**
 * Records deliveries that failed verification. It writes one record per integration at a time. The next record holds
 * everything that arrived during the previous write. So a flood, which needs no secret, causes few writes.
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

  /** Forgets the integration, unless another record is queued. `nextWritten` starts that record. */
  #end({ id }: ReceivingIntegration): void {
    if (this.#writing.get(id)?.next === null) this.#writing.delete(id);
  }
}
