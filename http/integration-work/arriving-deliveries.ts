import type { NewDelivery } from "../../actors/integration-work/delivery.js";
import type { DeliveryTaken } from "../../actors/integration-work/delivery.messages.js";
import type { Refusal } from "../../actors/refusal.js";
import { isDamage, Overloaded, TurnFailed } from "../../runtime/runtime.js";

/** What became of a delivery. */
type Taken = DeliveryTaken | Refusal;

/** Has deliveries of one integration taken; resolves when that is durable, with what became of each. */
export type TakeTogether = (deliveries: readonly NewDelivery[]) => Promise<readonly Taken[]>;

/** Most deliveries of one message, and the bytes of bodies after which it ends: a turn takes a quarter of a millisecond. */
const MAX_TOGETHER = 32;
const MAX_BYTES_TOGETHER = 1024 * 1024;
/** So many that wait go at once, beside one message that is under way: their turn is taken while that is flushed. */
const ENOUGH = 16;
/** Deliveries of an integration that may wait to be handed over. */
const MAX_WAITING = 1_000;

/** A delivery whose sender waits for the answer. */
interface Arrived {
  readonly delivery: NewDelivery;
  readonly bytes: number;
  readonly resolve: (taken: Taken) => void;
  readonly reject: (error: unknown) => void;
}

/** What waits of an integration, in order of arrival. */
interface Waiting {
  readonly take: TakeTogether;
  arrived: Arrived[];
  /** How often some were handed over that have no answer yet. */
  underWay: number;
}

/**
 * Hands over the deliveries that arrive, several of an integration in one message: a turn and its answer cost as much for
 * one delivery as for many.
 *
 * 1. Those of an integration are handed over in order of arrival. While some are under way, what arrives waits, until it
 *    is {@link ENOUGH}: as messages of their own they would wait for the same flush. While two are, all wait.
 * 2. A turn that failed has kept nothing. Its deliveries are handed over again, each alone: none is refused for another.
 * 3. At most {@link MAX_WAITING} of an integration wait; others are refused as by a full mailbox.
 */
export class ArrivingDeliveries {
  /** By the id of the integration; there while some are under way, or about to be. */
  readonly #waiting = new Map<string, Waiting>();

  /** `take` is called later, for this delivery and others of its integration. */
  take(delivery: NewDelivery, bytes: number, take: TakeTogether): Promise<Taken> {
    const { integrationId } = delivery;
    const waiting = this.#waiting.get(integrationId) ?? this.#begin(integrationId, take);
    if (waiting.arrived.length >= MAX_WAITING) {
      return Promise.reject(new Overloaded("too many deliveries wait to be handed over"));
    }
    return new Promise((resolve, reject) => {
      waiting.arrived.push({ delivery, bytes, resolve, reject });
      if (waiting.underWay === 1) this.#goOn(integrationId, waiting);
    });
  }

  /** Those that arrive in the same round of the event loop go together. */
  #begin(integrationId: string, take: TakeTogether): Waiting {
    const waiting: Waiting = { take, arrived: [], underWay: 0 };
    this.#waiting.set(integrationId, waiting);
    setImmediate(() => this.#handOver(integrationId, waiting));
    return waiting;
  }

  /** Hands over what waits, once it is worth a message beside the one that is under way. */
  #goOn(integrationId: string, waiting: Waiting): void {
    if (waiting.underWay === 0 || waiting.arrived.length >= ENOUGH) this.#handOver(integrationId, waiting);
  }

  #handOver(integrationId: string, waiting: Waiting): void {
    const { take, arrived } = waiting;
    if (arrived.length === 0) {
      this.#waiting.delete(integrationId);
      return;
    }
    waiting.arrived = [];
    waiting.underWay += 1;
    Promise.all(listGroups(arrived).map((group) => handOver(take, group))).then(() => {
      waiting.underWay -= 1;
      this.#goOn(integrationId, waiting);
    });
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

/** Resolves when each has its answer. */
async function handOver(take: TakeTogether, group: readonly Arrived[]): Promise<void> {
  try {
    const taken = await take(group.map(({ delivery }) => delivery));
    for (const [index, { resolve, reject }] of group.entries()) {
      const one = taken[index];
      if (one === undefined) reject(new Error("a delivery was handed over and not answered"));
      else resolve(one);
    }
  } catch (error) {
    if (group.length > 1 && (error instanceof TurnFailed || isDamage(error))) {
      for (const one of group) await handOver(take, [one]);
    } else for (const { reject } of group) reject(error);
  }
}
