import type { NewDelivery } from "../../actors/integration-work/deliveries/delivery.js";
import type { DeliveryTaken } from "../../actors/integration-work/deliveries/delivery.messages.js";
import type { Refusal } from "../../actors/refusal.js";
import { isDamage, Overloaded, TurnFailed } from "../../runtime/runtime.js";
import { Queue } from "../../runtime/schedule/queue.js";

/** What became of a delivery. */
type Taken = DeliveryTaken | Refusal;

/** Has deliveries of one integration taken; resolves when that is durable, with what became of each. */
export type TakeTogether = (deliveries: readonly NewDelivery[]) => Promise<readonly Taken[]>;

/** Most deliveries of one message, and the bytes of bodies after which it ends: a turn takes a quarter of a millisecond. */
const MAX_TOGETHER = 32;
const MAX_BYTES_TOGETHER = 1024 * 1024;
/** So many that wait go beside messages that are under way: their turn is taken while those are flushed. */
const ENOUGH = 8;
/** How often some of an integration may be under way at once. */
const MAX_UNDER_WAY = 8;
/** Senders that are answered before the event loop goes on: it is told of a flush that has ended in between. */
const ANSWERED_AT_ONCE = 32;
/** Deliveries of an integration that may wait to be handed over. */
const MAX_WAITING = 1_000;

/** A delivery whose sender waits for the answer. */
interface Arrived {
  readonly delivery: NewDelivery;
  readonly bytes: number;
  readonly resolve: (taken: Taken) => void;
  readonly reject: (error: unknown) => void;
  /** What became of it; undefined until it is known. */
  taken: Taken | undefined;
}

/**
 * Hands over the deliveries that arrive, several of an integration in one message: a turn and its answer cost as much for
 * one delivery as for many.
 *
 * 1. Those of an integration are handed over in order of arrival, those of one round of the event loop together. While
 *    some are under way, what arrives waits until it is {@link ENOUGH}: as messages of their own few would wait for the
 *    same flush. While {@link MAX_UNDER_WAY} are, all wait.
 * 2. A turn that failed has kept nothing. Its deliveries are handed over again, each alone: none is refused for another.
 * 3. At most {@link MAX_WAITING} of an integration wait; others are refused as by a full mailbox.
 * 4. The senders of an integration are answered in the order in which their deliveries were taken,
 *    {@link ANSWERED_AT_ONCE} in a round of the event loop.
 */
export class ArrivingDeliveries {
  /** By the id of the integration; there while some wait, for their turn or for their answer. */
  readonly #ofIntegrations = new Map<string, Arrivals>();

  /** `take` is called later, for this delivery and others of its integration. */
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

/** The deliveries of one integration. */
class Arrivals {
  readonly #take: TakeTogether;
  readonly #ended: () => void;
  #waiting: Arrived[] = [];
  /** How often some were handed over that are not taken yet. */
  #underWay = 0;
  readonly #taken = new Queue<Arrived>();
  #isHandingOver = false;
  #isAnswering = false;

  /** `ended` is called when none waits any more. */
  constructor(take: TakeTogether, ended: () => void) {
    this.#take = take;
    this.#ended = ended;
  }

  add(delivery: NewDelivery, bytes: number): Promise<Taken> {
    if (this.#waiting.length >= MAX_WAITING) {
      return Promise.reject(new Overloaded("too many deliveries wait to be handed over"));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ delivery, bytes, resolve, reject, taken: undefined });
      this.#goOn();
    });
  }

  /** Whether what waits is worth a message, beside those that are under way. */
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

  /** Hands over all that wait, if it is time. */
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

  /** Resolves when each is taken or refused. */
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
        if (next.taken === undefined) next.reject(new Error("a delivery was handed over and not answered"));
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

/** In order, each as large as a message may be. */
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
