import type { JudgingSetup } from "../lines/fingerprint.js";
import type { ModelSettings } from "../outbound/model-settings.js";
import { PROMPT_VERSION } from "./prompt.js";

/** How changes are judged in this deployment; null for one without a model. */
export function toJudgingSetup(model: Pick<ModelSettings, "name"> | null): JudgingSetup {
  return { defaultModel: model?.name ?? null, promptVersion: PROMPT_VERSION };
}

/** A deployment without a model. */
export const notJudging: JudgingSetup = toJudgingSetup(null);
