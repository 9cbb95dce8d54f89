import { defineArea } from "../area.js";
import type { AllowList } from "../outbound/http/allow-list.js";
import { integrationConnectionActor } from "./connection.machine.js";
import { connections } from "./connection.table.js";
import { connectionSubscriber } from "./connection-subscriber.js";
import { integrationKind } from "./integration.kind.js";
import { webhookTermsWalks } from "./integration.migration.js";
import { type OAuthEffectOptions, oauthEffects } from "./oauth.effects.js";
import { polls } from "./poll.table.js";
import type { ReadBodies } from "./read-bodies.js";
import { type IntegrationRequestOptions, integrationRequestEffect } from "./requests/integration-request.effects.js";

interface IntegrationDeployment {
  readonly allowList: AllowList;
  /** The service's base URL, without a trailing slash; empty by default. */
  readonly baseUrl?: () => string;
}

interface IntegrationParts
  extends Omit<OAuthEffectOptions, "outbound" | "servers">,
    Pick<IntegrationRequestOptions, "baseUrl" | "scheduler"> {
  /** The cache of parsed delivery bodies, shared with the evaluation of deliveries. */
  readonly bodies: ReadBodies;
  /** Clients for requests to the hosts of linked accounts. */
  readonly accounts: Pick<OAuthEffectOptions, "outbound" | "servers">;
  /** The client for requests of integrations. */
  readonly integrations: Pick<IntegrationRequestOptions, "outbound">;
}

/** Integrations, the accounts that people link to them, and the requests to their hosts. */
export const integrationsArea = defineArea({
  name: "integrations",
  kinds: (deployment: IntegrationDeployment) => [integrationKind(deployment)],
  actors: () => [integrationConnectionActor],
  tables: [connections, polls],
  subscribers: [connectionSubscriber],
  effects: (parts: IntegrationParts) => {
    const { reading, clock, scheduler, sealer, log, baseUrl, bodies } = parts;
    return [
      ...oauthEffects({ reading, clock, sealer, log, ...parts.accounts }),
      integrationRequestEffect({ bodies, reading, clock, scheduler, sealer, log, baseUrl, ...parts.integrations }),
    ];
  },
  migrations: [
    { to: 14, title: "integrations say how deliveries authenticate and are answered", walks: webhookTermsWalks },
  ],
});
