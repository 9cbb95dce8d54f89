import type { Effect, EffectContext } from "../../runtime/cells/actor-type.js";
import { addressText } from "../../runtime/cells/address.js";
import { withBeginMarked } from "../../runtime/effects/effect-type.js";
import { effectKey } from "../../runtime/effects/pending-effect.js";
import type { Reading } from "../../storage/store.js";
import { plainEffect } from "../support/plain-effect.js";
import type { Chance } from "./chance.js";
import type { World } from "./world.js";

/** Maximum duration of each part of an effect, in milliseconds. */
const LONGEST_MS = 200;

/**
 * The outside world of the simulation. It records each payment by its idempotency id, so a repeated payment has no
 * second result.
 */
export class Outside {
  /** Amounts that were paid out, by idempotency id. */
  readonly ledger = new Map<string, number>();
  readonly complaints: string[] = [];
  /**
   * The effects that were started, by owner and id. If an effect is started again, its context must have
   * `mayHaveBegun`.
   */
  readonly #begun = new Set<string>();
  readonly #world: World;
  readonly #chance: Chance;
  readonly #durable: Reading;

  constructor(world: World, chance: Chance, durable: Reading) {
    this.#world = world;
    this.#chance = chance;
    this.#durable = durable;
  }

  /**
   * Returns the effects for a process. If the process dies while an effect runs, the effect may or may not have done
   * its work.
   */
  effects(): readonly Effect[] {
    return [
      withBeginMarked(
        plainEffect("pay", 2, (input, context) => this.#run(context, () => this.#pay(context.id, input))),
      ),
      plainEffect("ping", 1, (_input, context) => this.#run(context, () => "pong")),
    ];
  }

  #run({ owner, id, mayHaveBegun }: EffectContext, work: () => unknown): Promise<unknown> {
    if (this.#durable.get(effectKey(owner, id)) === undefined) {
      this.complaints.push(`the effect ${id} began before it was durable`);
    }
    const name = addressText(owner) + id;
    if (this.#begun.has(name) && !mayHaveBegun) this.complaints.push(`${id} began again, and was not told so`);
    this.#begun.add(name);
    return new Promise((resolve, reject) => {
      this.#world.later(this.#chance.between(0, LONGEST_MS), () => {
        try {
          const output = work();
          this.#world.later(this.#chance.between(0, LONGEST_MS), () => resolve(output));
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  #pay(id: string, input: unknown): unknown {
    const amount = typeof input === "object" && input !== null && "amount" in input ? Number(input.amount) : Number.NaN;
    if (amount % 7 === 3) throw new Error("declined");
    const paid = this.ledger.get(id);
    if (paid !== undefined && paid !== amount) this.complaints.push(`${id} was paid as ${paid} and as ${amount}`);
    this.ledger.set(id, amount);
    return "paid";
  }
}
