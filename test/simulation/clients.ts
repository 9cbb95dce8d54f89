import { type Address, address } from "../../runtime/cells/address.js";
import type { Operation } from "./account.machine.js";
import type { Chance } from "./chance.js";
import type { History } from "./history.js";
import type { SimulatedProcess } from "./process.js";
import { partitions } from "./rows.js";
import { accountIds } from "./system.js";
import type { World } from "./world.js";

/** The outcomes that clients received. The durable rows must never contradict these outcomes. */
export interface Told {
  /** Acknowledged operations, each with its partition. */
  readonly done: Map<string, string>;
  /** Refused operations that were not sent again, each with its partition. */
  readonly refused: Map<string, string>;
}

const LONGEST_PAUSE_MS = 80;

interface Ask {
  readonly to: Address;
  readonly message: Operation;
}

/**
 * Sends operations one after another. Repeats an operation under the same message id until the client knows the
 * operation's outcome.
 */
export class Client {
  readonly #name: string;
  readonly #world: World;
  readonly #chance: Chance;
  readonly #process: SimulatedProcess;
  readonly #told: Told;
  readonly #history: History;
  #count = 0;
  #lastPing: { readonly op: string; readonly to: Address } | null = null;

  constructor(
    name: string,
    parts: { world: World; chance: Chance; process: SimulatedProcess; told: Told; history: History },
  ) {
    this.#name = name;
    this.#world = parts.world;
    this.#chance = parts.chance;
    this.#process = parts.process;
    this.#told = parts.told;
    this.#history = parts.history;
  }

  async run(operations: number): Promise<void> {
    for (let count = 0; count < operations; count++) {
      await this.#world.pause(this.#chance.between(0, LONGEST_PAUSE_MS));
      await this.#until(this.#next());
    }
  }

  /** Repeats the ask until the process returns an outcome. */
  async #until({ to, message }: Ask): Promise<void> {
    for (;;) {
      const { runtime, over } = await this.#process.life();
      const outcome = await Promise.race([
        over.then(() => "lost"),
        runtime.ask(to, message, { messageId: message.op }).then(
          () => "done",
          (error: unknown) => (error instanceof Error ? error.name : "unknown"),
        ),
      ]);
      this.#history.note(`${this.#world.nowMs} ${message.op} ${message.type} ${outcome}`);
      if (outcome === "done") {
        this.#told.done.set(message.op, to.partition);
        return;
      }
      if (outcome === "NotAccepted" || outcome === "TurnFailed") {
        this.#told.refused.set(message.op, to.partition);
        return;
      }
      await this.#world.pause(this.#chance.between(1, LONGEST_PAUSE_MS));
    }
  }

  #account(): Address {
    return address(this.#chance.pick(partitions), "account", this.#chance.pick(accountIds));
  }

  #next(): Ask {
    const to = this.#account();
    const op = `${to.partition}-${this.#name}-${this.#count++}`;
    const amount = this.#chance.between(1, 60);
    const name = this.#chance.pick(["one", "two", "three"]);
    const other = this.#account();
    switch (this.#chance.between(0, 13)) {
      case 0:
      case 1:
        return { to, message: { type: "deposit", op, amount: 2 * amount } };
      case 2:
        return { to, message: { type: "pay", op, amount } };
      case 3:
        this.#lastPing = { op, to };
        return { to, message: { type: "ping", op } };
      case 4:
        if (this.#lastPing === null) return { to, message: { type: "deposit", op, amount } };
        return {
          to: this.#lastPing.to,
          message: {
            type: "cancel-ping",
            op: `${this.#lastPing.to.partition}-${this.#name}-c${this.#count}`,
            target: this.#lastPing.op,
          },
        };
      case 5:
      case 6:
        return { to, message: { type: "remind", op, name, inMs: this.#chance.between(0, 20_000) } };
      case 7:
        return { to, message: { type: "forget", op, name } };
      case 8:
        return { to, message: { type: "reserve", op, amount, to: other } };
      case 9:
        return this.#trouble(to, op, other);
      default:
        return { to, message: { type: "transfer", op, amount, to: other } };
    }
  }

  #trouble(to: Address, op: string, other: Address): Ask {
    switch (this.#chance.between(0, 2)) {
      case 0:
        return { to, message: { type: "crash", op } };
      case 1:
        return { to, message: { type: "infect", op, to: other } };
      default:
        return { to, message: { type: "stumble", op, to: other, tries: this.#chance.between(1, 6) } };
    }
  }
}
