import type { Effect } from "../runtime/cells/actor-type.js";
import type { Clock, Scheduler } from "../runtime/clock.js";
import type { Reading } from "../storage/store.js";
import { confirmationEffect } from "./code-host/confirmation.effects.js";
import { installationCheckEffect } from "./code-host/installation-check.effects.js";
import { commitEffect } from "./config-pull-requests/commit.effects.js";
import { editStation } from "./config-pull-requests/edit/edit-station.js";
import { openConfigEffect } from "./config-pull-requests/open.effects.js";
import { type DeliveryOptions, deliveryEffect } from "./hooks/delivery/delivery.effects.js";
import { evaluationEffect } from "./integration-work/deliveries/delivery-evaluation.effects.js";
import { type OAuthEffectOptions, oauthEffects } from "./integrations/oauth.effects.js";
import { ReadBodies } from "./integrations/read-bodies.js";
import {
  type IntegrationRequestOptions,
  integrationRequestEffect,
} from "./integrations/requests/integration-request.effects.js";
import type { CodeHost } from "./outbound/code-host/code-host.js";
import { type MailOptions, mailEffect } from "./outbound/mail/mail.effects.js";
import { modelEffect } from "./outbound/models/model.effects.js";
import type { Model } from "./outbound/models/model.js";
import { commentEffect } from "./pull-requests/comment.effects.js";
import { listOpenEffect } from "./pull-requests/list-open.effects.js";
import { filesEffect, lookEffect } from "./pull-requests/look.effects.js";
import { openEffect } from "./pull-requests/open.effects.js";
import { reviewEffect } from "./pull-requests/review.effects.js";
import type { Sealer } from "./sealer.js";
import { findPickedConfig } from "./searches/reads/picked-config.view.js";
import { retentionEffect } from "./tables/retention.effects.js";

/** The services that effects use: those that several effects share, and one part for each area. */
export interface EffectParts {
  /** Returns a reading of the durable rows. A function, because effects are created before the runtime. */
  readonly reading: () => Reading;
  readonly newId: (prefix: string) => string;
  readonly baseUrl: () => string;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly sealer: Sealer;
  readonly log: MailOptions["log"] & OAuthEffectOptions["log"];
  readonly mail: Pick<MailOptions, "smtpUrl" | "from">;
  readonly hooks: Pick<DeliveryOptions, "outbound" | "network" | "tokens" | "rotates">;
  /** Requests to the hosts of linked accounts. */
  readonly accounts: Pick<OAuthEffectOptions, "outbound" | "servers">;
  /** Requests of integrations. */
  readonly integrations: Pick<IntegrationRequestOptions, "outbound">;
  /** Null if none is configured. */
  readonly codeHost: CodeHost | null;
  /** Null if none is configured. */
  readonly model: Model | null;
}

/** Creates all effects. Each area adds one line. */
export function createEffects(parts: EffectParts): readonly Effect[] {
  const { reading, newId, baseUrl, clock, scheduler, sealer, log, codeHost, model } = parts;
  const bodies = new ReadBodies();
  return [
    mailEffect({ sealer, log, ...parts.mail }),
    installationCheckEffect(codeHost),
    confirmationEffect({ codeHost, sealer }),
    openEffect({ codeHost, baseUrl }),
    lookEffect(codeHost),
    filesEffect(codeHost),
    listOpenEffect(codeHost),
    commentEffect(codeHost),
    reviewEffect(codeHost),
    commitEffect({ codeHost, reading, findPicked: findPickedConfig, editStation, clock }),
    openConfigEffect({ codeHost, reading, findPicked: findPickedConfig, baseUrl }),
    deliveryEffect({ reading, newId, baseUrl, clock, sealer, ...parts.hooks }),
    modelEffect(model),
    ...oauthEffects({ reading, clock, sealer, log, ...parts.accounts }),
    evaluationEffect({ reading, scheduler, bodies }),
    integrationRequestEffect({ bodies, reading, clock, scheduler, sealer, log, baseUrl, ...parts.integrations }),
    retentionEffect({ clock }),
  ];
}
