import { toJudgingSetup } from "../../judging/judging-setup.js";
import { MAX_ANSWER_TOKENS } from "../../judging/prompt.js";
import type { Judge } from "../../judging/scales.js";
import type { JudgingSetup } from "../../lines/fingerprint.js";
import type { Money } from "../../money.js";
import { estimateModelUsage, toModelCost } from "../../outbound/model-cost.js";
import type { ModelMessage } from "../../outbound/model-request.js";
import { findModelPrice, type ModelSettings, toModelName } from "../../outbound/model-settings.js";

/** What judging knows of the deployment's model: its name, and what models cost. */
export type ModelTerms = Pick<ModelSettings, "name" | "prices">;

/** How replays are judged in this deployment. */
export interface ReplayJudging extends JudgingSetup {
  /** Null when no model is set up. */
  readonly terms: ModelTerms | null;
}

export function toReplayJudging(model: ModelTerms | null): ReplayJudging {
  const terms = model === null ? null : { name: model.name, prices: model.prices };
  return { ...toJudgingSetup(terms), terms };
}

/** A deployment without a model. */
export const judgesNothing: ReplayJudging = toReplayJudging(null);

/** What a question counts against a ceiling until its usage is known; null when its model is unpriced. */
export function estimateCost(
  terms: ModelTerms,
  { messages, model }: { readonly messages: readonly ModelMessage[]; readonly model: string | null },
): Money | null {
  const price = findModelPrice(terms, toModelName(terms, model));
  return toModelCost(price, estimateModelUsage(messages, MAX_ANSWER_TOKENS));
}

/** What the start of a replay says of its judging (`../start-warnings.ts`). */
export interface JudgingWarning {
  /**
   * `judging-not-set-up`: no model judges, so every copy that would be judged is unscored. `judging-outside-ceiling`:
   * the model that judges has no price in the ceiling's currency, so nothing that it costs counts against the ceiling.
   */
  readonly kind: "judging-not-set-up" | "judging-outside-ceiling";
}

/** The warnings of a replay under a config with this judge; none without one. */
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
