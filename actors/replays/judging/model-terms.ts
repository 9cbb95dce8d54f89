import { toJudgingSetup } from "../../judging/judging-setup.js";
import { MAX_ANSWER_TOKENS } from "../../judging/prompt.js";
import type { Judge } from "../../judging/scales.js";
import type { JudgingSetup } from "../../lines/fingerprint.js";
import type { Money } from "../../money.js";
import { estimateModelUsage, toModelCost } from "../../outbound/models/model-cost.js";
import type { ModelMessage } from "../../outbound/models/model-request.js";
import { findModelPrice, type ModelSettings, toModelName } from "../../outbound/models/model-settings.js";

/** The name of the deployment's model, and the models' prices. */
export type ModelTerms = Pick<ModelSettings, "name" | "prices">;

/** How this deployment judges replays. */
export interface ReplayJudging extends JudgingSetup {
  /** Null when no model is configured. */
  readonly terms: ModelTerms | null;
}

/** Returns how a deployment judges replays. `model` is null if no model is configured. */
export function toReplayJudging(model: ModelTerms | null): ReplayJudging {
  const terms = model === null ? null : { name: model.name, prices: model.prices };
  return { ...toJudgingSetup(terms), terms };
}

/** The judging setup of a deployment without a model. */
export const judgesNothing: ReplayJudging = toReplayJudging(null);

/**
 * Estimates how much a question counts against a ceiling until its usage is known; null when its model has no price.
 */
export function estimateCost(
  terms: ModelTerms,
  { messages, model }: { readonly messages: readonly ModelMessage[]; readonly model: string | null },
): Money | null {
  const price = findModelPrice(terms, toModelName(terms, model));
  return toModelCost(price, estimateModelUsage(messages, MAX_ANSWER_TOKENS));
}

/** A warning about judging in the answer to a replay start (`../starting/start-warnings.ts`). */
export interface JudgingWarning {
  /**
   * `judging-not-set-up`: no model is configured, so each copy that needs a judge is unscored.
   * `judging-outside-ceiling`: the judge's model has no price in the ceiling's currency, so its cost does not count
   * against the ceiling.
   */
  readonly kind: "judging-not-set-up" | "judging-outside-ceiling";
}

/** Lists the judging warnings for a replay with this judge. Returns an empty array if `judge` is null. */
export function judgingWarnings(
  judge: Pick<Judge, "model"> | null,
  terms: ModelTerms | null,
  currency: string,
): readonly JudgingWarning[] {
  if (judge === null) return [];
  if (terms === null) return [{ kind: "judging-not-set-up" }];
  const price = findModelPrice(terms, toModelName(terms, judge.model));
  return price?.currency === currency ? [] : [{ kind: "judging-outside-ceiling" }];
}
