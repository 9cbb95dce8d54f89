import { defineArea } from "../area.js";
import { type MailOptions, mailEffect } from "./mail/mail.effects.js";
import { type ModelOutcome, modelEffect } from "./models/model.effects.js";
import type { Model } from "./models/model.js";

interface OutboundParts extends Pick<MailOptions, "sealer" | "log"> {
  readonly mail: Pick<MailOptions, "smtpUrl" | "from" | "mailed">;
  /** Called with the result of each question to the model. */
  readonly asked?: (outcome: ModelOutcome) => void;
  /** Null if no model is configured. */
  readonly model: Model | null;
}

/** Mails and questions to models. */
export const outboundArea = defineArea({
  name: "outbound",
  effects: ({ sealer, log, mail, model, asked }: OutboundParts) => [
    mailEffect({ sealer, log, ...mail }),
    modelEffect(model, asked),
  ],
});
