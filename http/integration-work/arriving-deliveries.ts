import type { NewDelivery } from "../../actors/integration-work/deliveries/delivery.js";
import type { DeliveryTaken } from "../../actors/integration-work/deliveries/delivery.messages.js";
import type { Refusal } from "../../actors/refusal.js";
import { isDamage, Overloaded, TurnFailed } from "../../runtime/runtime.js";
import { Queue } from "../../runtime/schedule/queue.js";

type Taken = DeliveryTaken | Refusal;

/** Submits deliveries of one integration. Resolves with the result of each delivery when all results are durable. */
export type TakeTogether = (deliveries: readonly NewDelivery[]) => Promise<readonly Taken[]>;

/**
 * Limits of one message: number of deliveries and total body size in bytes. A turn for a message of this size takes a
 * quarter of a millisecond.
 */
const MAX_TOGETHER = 32;
const MAX_BYTES_TOGETHER = 1024 * 1024;
/**
 * With this many waiting deliveries, they are sent in another message even while earlier messages are in flight. The
 * turn for the new message then runs while the changes of earlier turns are flushed.
 */
const ENOUGH = 8;
/** Maximum number of submissions in flight per integration. */
const MAX_UNDER_WAY = 8;
/** Number of senders to answer per round of the event loop. Between rounds, the loop handles finished flushes. */
const ANSWERED_AT_ONCE = 32;
/** Maximum number of waiting deliveries per integration. */
const MAX_WAITING = 1_000;

/** A delivery whose sender waits for the response. */
interface Arrived {
  readonly delivery: NewDelivery;
  readonly bytes: number;
  readonly resolve: (taken: Taken) => void;
  readonly reject: (error: unknown) => void;
  /** The result; undefined until it is known. */
  taken: Taken | undefined;
}

/**
 * Submits arriving deliveries in batches: several deliveries of an integration in one message. A message costs the same
 * for one delivery as for many.
 *
 * 1. The deliveries of an integration are submitted in order of arrival. Deliveries that arrive in the same round of
 *    the event loop are submitted together.
 * 2. While earlier submissions are in flight, new deliveries wait until there are {@link ENOUGH}, because a smaller
 *    message would wait for the same flush. While {@link MAX_UNDER_WAY} submissions are in flight, all new deliveries
 *    wait.
 * 3. A failed turn stores nothing. The deliveries of its message are then submitted again, one by one, so that no
 *    delivery is refused because of another.
 * 4. At most {@link MAX_WAITING} deliveries of an integration wait. Further deliveries are refused as overload.
 * 5. The senders of an integration are answered in the order in which their deliveries were accepted, {@link
 *    ANSWERED_AT_ONCE} per round of the event loop.
 */
export class ArrivingDeliveries {
  /** The queues by integration id. An entry exists while deliveries wait for their turn or their response. */
  readonly #ofIntegrations = new Map<string, Arrivals>();

  /**
   * Queues a delivery, and later calls `take` with it and other deliveries of its integration. The `take` functions of
   * all calls for one integration must have the same effect, because only the first one is used.
   */
  take(delivery: NewDelivery, bytes: number, take: TakeTogether): Promise<Taken> {
    const { integrationId } = delivery;
    let arrivals = this.#ofIntegrations.get(integrationId);
    if (arrivals === undefined) {
      arrivals = new Arrivals(take, () => this.#ofIntegrations.delete(integrationId));
      this.#ofIntegrations.set(integrationId, arrivals);
    }
    return arrivals.add(delivery, bytes);
  }
}

/** The waiting deliveries of one integration. */
class Arrivals {
  readonly #take: TakeTogether;
  readonly #ended: () => void;
  #waiting: Arrived[] = [];
  /** The number of submissions in flight. */
  #underWay = 0;
  readonly #taken = new Queue<Arrived>();
  #isHandingOver = false;
  #isAnswering = false;

  /** `ended` is called when the queue is empty and nothing is in flight. */
  constructor(take: TakeTogether, ended: () => void) {
    this.#take = take;
    this.#ended = ended;
  }

  add(delivery: NewDelivery, bytes: number): Promise<Taken> {
    if (this.#waiting.length >= MAX_WAITING) {
      return Promise.reject(new Overloaded("too many deliveries are queued"));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ delivery, bytes, resolve, reject, taken: undefined });
      this.#goOn();
    });
  }

  /** Whether enough deliveries wait to send a message now. The required number depends on the submissions in flight. */
  get #isEnough(): boolean {
    const { length } = this.#waiting;
    return this.#underWay === 0 ? length > 0 : this.#underWay < MAX_UNDER_WAY && length >= ENOUGH;
  }

  #goOn(): void {
    if (this.#isHandingOver || !this.#isEnough) return;
    this.#isHandingOver = true;
    setImmediate(() => {
      this.#isHandingOver = false;
      this.#handOver();
    });
  }

  /** Submits all waiting deliveries, if there are enough. */
  #handOver(): void {
    if (!this.#isEnough) return;
    const groups = listGroups(this.#waiting);
    this.#waiting = [];
    this.#underWay += 1;
    Promise.all(groups.map((group) => this.#handOverGroup(group))).then(() => {
      this.#underWay -= 1;
      this.#handOver();
      this.#end();
    });
  }

  /**
   * Submits the deliveries in one message. If the turn for this message fails, submits them one by one. Resolves when
   * every delivery has a result or an error.
   */
  async #handOverGroup(group: readonly Arrived[]): Promise<void> {
    try {
      const taken = await this.#take(group.map(({ delivery }) => delivery));
      for (const [index, one] of group.entries()) {
        one.taken = taken[index];
        this.#taken.push(one);
      }
      this.#answer();
    } catch (error) {
      if (group.length > 1 && (error instanceof TurnFailed || isDamage(error))) {
        for (const one of group) await this.#handOverGroup([one]);
      } else for (const { reject } of group) reject(error);
    }
  }

  #answer(): void {
    if (this.#isAnswering) return;
    this.#isAnswering = true;
    setImmediate(() => {
      this.#isAnswering = false;
      for (let count = 0; count < ANSWERED_AT_ONCE; count++) {
        const next = this.#taken.take();
        if (next === undefined) break;
        if (next.taken === undefined) next.reject(new Error("the delivery was submitted but not answered"));
        else next.resolve(next.taken);
      }
      if (this.#taken.length > 0) this.#answer();
      else this.#end();
    });
  }

  #end(): void {
    if (this.#waiting.length + this.#taken.length + this.#underWay === 0) this.#ended();
  }
}

/** Splits deliveries, in order, into groups that fit into one message. */
function listGroups(arrived: readonly Arrived[]): readonly (readonly Arrived[])[] {
  const groups: Arrived[][] = [];
  let group: Arrived[] = [];
  let bytes = 0;
  for (const one of arrived) {
    bytes += one.bytes;
    if (group.length === 0 || group.length === MAX_TOGETHER || bytes > MAX_BYTES_TOGETHER) {
      group = [];
      groups.push(group);
      bytes = one.bytes;
    }
    group.push(one);
  }
  return groups;
}
