import type { Effect } from "../runtime/actor-type.js";
import type { Clock } from "../runtime/clock.js";
import type { Reading } from "../storage/store.js";
import { confirmationEffect } from "./code-host/confirmation.effects.js";
import { installationCheckEffect } from "./code-host/installation-check.effects.js";
import { type DeliveryOptions, deliveryEffect } from "./hooks/delivery/delivery.effects.js";
import { type OAuthEffectOptions, oauthEffects } from "./integrations/oauth.effects.js";
import type { CodeHost } from "./outbound/code-host.js";
import { type MailOptions, mailEffect } from "./outbound/mail.effects.js";
import type { Sealer } from "./sealer.js";

/** What effects do their work through: what several take, and a part for each area. */
export interface EffectParts {
  /** Reads what is durable when it is called: effects are made before the runtime is. */
  readonly reading: () => Reading;
  readonly newId: (prefix: string) => string;
  readonly baseUrl: () => string;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly log: MailOptions["log"] & OAuthEffectOptions["log"];
  readonly mail: Pick<MailOptions, "smtpUrl" | "from">;
  readonly hooks: Pick<DeliveryOptions, "outbound" | "network" | "tokens" | "rotates">;
  /** The way to the hosts that accounts are linked at. */
  readonly accounts: Pick<OAuthEffectOptions, "outbound" | "servers">;
  /** Null when none is set up. */
  readonly codeHost: CodeHost | null;
}

/** Every effect of the product. An area adds a line. */
export function createEffects(parts: EffectParts): readonly Effect[] {
  const { reading, newId, baseUrl, clock, sealer, log, codeHost } = parts;
  return [
    mailEffect({ sealer, log, ...parts.mail }),
    installationCheckEffect(codeHost),
    confirmationEffect({ codeHost, sealer }),
    deliveryEffect({ reading, newId, baseUrl, clock, sealer, ...parts.hooks }),
    ...oauthEffects({ reading, clock, sealer, log, ...parts.accounts }),
  ];
}
