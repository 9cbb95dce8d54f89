import { type AllowList, parseAllowList } from "../http/allow-list.js";

/** The deployment's model: an OpenAI-compatible endpoint. */
export interface ModelSettings {
  /** Address of the API, without `/chat/completions` and without a trailing slash. */
  readonly url: string;
  /** The bearer token; null if the endpoint needs none. It never appears in a log, a row or an answer. */
  readonly key: string | null;
  /** The default model. */
  readonly name: string;
  /** Null if calls are unpriced. */
  readonly prices: ModelPrices | null;
}

/** Prices per million tokens. */
export interface TokenPrices {
  readonly in: number;
  readonly out: number;
}

/** The deployment's prices: for the default model, and for other models by name. */
export interface ModelPrices extends TokenPrices {
  /** The ISO 4217 currency code. */
  readonly currency: string;
  readonly models: Readonly<Record<string, TokenPrices>>;
}

/** The prices of one model. */
export interface ModelPrice extends TokenPrices {
  readonly currency: string;
}

/**
 * Returns the allow-list for requests to the model: only its configured address, whatever `OUTBOUND_ALLOW` contains.
 */
export function modelAddresses({ url }: ModelSettings): AllowList {
  return parseAllowList(new URL(url).origin);
}

/** Returns the model to use: `own`, or the default model if `own` is null or empty. */
export function toModelName(settings: Pick<ModelSettings, "name">, own: string | null): string {
  return own === null || own === "" ? settings.name : own;
}

/**
 * Returns the prices of a model; null if its calls are unpriced. Other models do not inherit the default model's
 * prices, because a wrong price is worse than none.
 */
export function findModelPrice(
  { name, prices }: Pick<ModelSettings, "name" | "prices">,
  model: string,
): ModelPrice | null {
  if (prices === null) return null;
  const found = Object.hasOwn(prices.models, model) ? prices.models[model] : model === name ? prices : undefined;
  return found === undefined ? null : { in: found.in, out: found.out, currency: prices.currency };
}
