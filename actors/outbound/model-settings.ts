import { type AllowList, parseAllowList } from "./allow-list.js";

/** The deployment's model: an OpenAI-compatible endpoint. */
export interface ModelSettings {
  /** Address of the API, without `/chat/completions` and without a slash at the end. */
  readonly url: string;
  /** Sent as a bearer token; null for none. Never in a log, a row or an answer. */
  readonly key: string | null;
  /** The model that is asked unless the asker names another. */
  readonly name: string;
  /** Null when calls are unpriced. */
  readonly prices: ModelPrices | null;
}

/** Prices for a million tokens. */
export interface TokenPrices {
  readonly in: number;
  readonly out: number;
}

/** What the deployment pays: for the model of the settings, and for others by name. */
export interface ModelPrices extends TokenPrices {
  /** ISO 4217 */
  readonly currency: string;
  readonly models: Readonly<Record<string, TokenPrices>>;
}

/** The prices of one model. */
export interface ModelPrice extends TokenPrices {
  readonly currency: string;
}

/** The allow-list for requests to the model: its address only, whatever `OUTBOUND_ALLOW` says. */
export function modelAddresses({ url }: ModelSettings): AllowList {
  return parseAllowList(new URL(url).origin);
}

/** The model that answers whoever names `own`; null or an empty name for the one of the settings. */
export function toModelName(settings: Pick<ModelSettings, "name">, own: string | null): string {
  return own === null || own === "" ? settings.name : own;
}

/** The prices of a model; null when its calls are unpriced. A model without prices of its own has none. */
export function findModelPrice(
  { name, prices }: Pick<ModelSettings, "name" | "prices">,
  model: string,
): ModelPrice | null {
  if (prices === null) return null;
  const found = Object.hasOwn(prices.models, model) ? prices.models[model] : model === name ? prices : undefined;
  return found === undefined ? null : { in: found.in, out: found.out, currency: prices.currency };
}
