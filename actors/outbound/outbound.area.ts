import { defineArea } from "../area.js";
import { type MailOptions, mailEffect } from "./mail/mail.effects.js";
import { modelEffect } from "./models/model.effects.js";
import type { Model } from "./models/model.js";

interface OutboundParts extends Pick<MailOptions, "sealer" | "log"> {
  readonly mail: Pick<MailOptions, "smtpUrl" | "from">;
  /** Null if no model is configured. */
  readonly model: Model | null;
}

/** Mails and questions to models. */
export const outboundArea = defineArea({
  name: "outbound",
  effects: ({ sealer, log, mail, model }: OutboundParts) => [mailEffect({ sealer, log, ...mail }), modelEffect(model)],
});
