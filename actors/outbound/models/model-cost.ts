import { add, decimal, divide, fraction, multiply } from "../../fraction.js";
import { addMoney, type Money, toAmount } from "../../money.js";
import type { ModelUsage } from "./model-answer.js";
import type { ModelMessage } from "./model-request.js";
import type { ModelPrice } from "./model-settings.js";

/** The number and cost of model calls. */
export interface ModelSpent {
  /** Calls that the model answered, or may have answered. */
  readonly calls: number;
  /** Null if a call is unpriced, or if currencies differ. */
  readonly cost: Money | null;
  /** Whether `cost` contains an estimate because a call's usage is unknown. */
  readonly isEstimate: boolean;
}

/** Number of tokens that a price is for. */
const PRICED_TOKENS = fraction(1_000_000);
/**
 * Bytes of text per token for estimates. Common text and code have more bytes per token, so an estimate is rarely too
 * low.
 */
const BYTES_IN_TOKEN = 3;
/** Tokens of a message besides its text. */
const MESSAGE_TOKENS = 8;

/** Returns the exact cost of a call; null if the model is unpriced. */
export function toModelCost(price: ModelPrice | null, usage: ModelUsage): Money | null {
  if (price === null) return null;
  const read = multiply(decimal(price.in), decimal(usage.in));
  const written = multiply(decimal(price.out), decimal(usage.out));
  return { amount: toAmount(divide(add(read, written), PRICED_TOKENS)), currency: price.currency };
}

/**
 * Estimates the usage of a call: all of its messages, and the longest allowed answer. The estimate is used while the
 * real usage is unknown.
 */
export function estimateModelUsage(messages: readonly ModelMessage[], maxTokens: number): ModelUsage {
  const tokens = messages.map(({ content }) => Math.ceil(Buffer.byteLength(content) / BYTES_IN_TOKEN) + MESSAGE_TOKENS);
  return { in: tokens.reduce((sum, count) => sum + count, 0), out: maxTokens };
}

/** Adds two sums. The cost is null if one of the sums has no cost, or if their currencies differ. */
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

  /**
   * Counts a call. `usage` is null if the usage is unknown; then the estimate counts. The usage is unknown in these
   * cases:
   * - The answer does not report it.
   * - A process was killed during the call.
   * - The connection broke or timed out after the request was sent.
   */
  count(usage: ModelUsage | null, estimate: ModelUsage): void {
    this.#calls += 1;
    this.#isEstimate ||= usage === null;
    const cost = toModelCost(this.price, usage ?? estimate);
    if (this.#cost !== null && cost !== null) this.#cost = addMoney(this.#cost, cost);
  }
}
