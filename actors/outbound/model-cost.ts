import { add, decimal, divide, fraction, multiply } from "../fraction.js";
import { addMoney, type Money, toAmount } from "../money.js";
import type { ModelUsage } from "./model-answer.js";
import type { ModelMessage } from "./model-request.js";
import type { ModelPrice } from "./model-settings.js";

/** What calls of a model cost. */
export interface ModelSpent {
  /** Calls that the model answered, or may have. */
  readonly calls: number;
  /** Null when the model is unpriced. */
  readonly cost: Money | null;
  /** Whether the usage of a call is not known, so that its estimate is in `cost`. */
  readonly isEstimate: boolean;
}

/** Prices are for so many tokens. */
const PRICED_TOKENS = fraction(1_000_000);
/** Bytes of text in a token: fewer than in common texts and code, so that an estimate is rarely too low. */
const BYTES_IN_TOKEN = 3;
/** Tokens that a message takes beside its text. */
const MESSAGE_TOKENS = 8;

/** The exact cost of a call; null when the model is unpriced. */
export function toModelCost(price: ModelPrice | null, usage: ModelUsage): Money | null {
  if (price === null) return null;
  const read = multiply(decimal(price.in), decimal(usage.in));
  const written = multiply(decimal(price.out), decimal(usage.out));
  return { amount: toAmount(divide(add(read, written), PRICED_TOKENS)), currency: price.currency };
}

/** The usage that a call counts until its own is known: all of its messages, and as long an answer as it may have. */
export function estimateModelUsage(messages: readonly ModelMessage[], maxTokens: number): ModelUsage {
  const tokens = messages.map(({ content }) => Math.ceil(Buffer.byteLength(content) / BYTES_IN_TOKEN) + MESSAGE_TOKENS);
  return { in: tokens.reduce((sum, count) => sum + count, 0), out: maxTokens };
}

/** The sum of two; without a cost when one has none, or when prices have another currency since. */
export function addModelSpent(first: ModelSpent, second: ModelSpent): ModelSpent {
  return {
    calls: first.calls + second.calls,
    cost: first.cost === null || second.cost === null ? null : addMoney(first.cost, second.cost),
    isEstimate: first.isEstimate || second.isEstimate,
  };
}

/** The sum over the calls of one question. */
export class ModelTally {
  #calls = 0;
  #cost: Money | null;
  #isEstimate = false;

  constructor(readonly price: ModelPrice | null) {
    this.#cost = price === null ? null : { amount: 0, currency: price.currency };
  }

  get spent(): ModelSpent {
    return { calls: this.#calls, cost: this.#cost, isEstimate: this.#isEstimate };
  }

  /** Counts a call; `usage` is null when it is not known. */
  count(usage: ModelUsage | null, estimate: ModelUsage): void {
    this.#calls += 1;
    this.#isEstimate ||= usage === null;
    const cost = toModelCost(this.price, usage ?? estimate);
    if (this.#cost !== null && cost !== null) this.#cost = addMoney(this.#cost, cost);
  }
}
