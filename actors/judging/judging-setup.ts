import type { JudgingSetup } from "../lines/fingerprint.js";
import type { ModelSettings } from "../outbound/models/model-settings.js";
import { PROMPT_VERSION } from "./prompt.js";

/** Returns the judging settings of this deployment. `model` is null if no model is configured. */
export function toJudgingSetup(model: Pick<ModelSettings, "name"> | null): JudgingSetup {
  return { defaultModel: model?.name ?? null, promptVersion: PROMPT_VERSION };
}

/** The settings of a deployment without a model. */
export const notJudging: JudgingSetup = toJudgingSetup(null);
