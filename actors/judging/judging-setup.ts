import type { JudgingSetup } from "../lines/fingerprint.js";
import type { ModelSettings } from "../outbound/models/model-settings.js";
import { PROMPT_VERSION } from "./prompt.js";

/** The judging settings of this deployment. Pass null if it has no model. */
export function toJudgingSetup(model: Pick<ModelSettings, "name"> | null): JudgingSetup {
  return { defaultModel: model?.name ?? null, promptVersion: PROMPT_VERSION };
}

/** The settings of a deployment without a model. */
export const notJudging: JudgingSetup = toJudgingSetup(null);
