import type { Subscriber } from "../../runtime/cells/actor-type.js";
import type { Turn } from "../../runtime/turns/turn.js";
import { eachRow, putRow } from "../../storage/migration-walks.js";
import type { Walk } from "../../storage/migrations.js";
import { defineArea } from "../area.js";
import type { AllowList } from "../outbound/http/allow-list.js";
import type { ResourceChanged } from "../resources/resource.messages.js";
import type { MemberChanged } from "../workspaces/membership.transitions.js";
import type { WorkspaceClosed } from "../workspaces/workspace.machine.js";
import type { ConnectionHolder } from "./connection.js";
import { integrationConnectionActor } from "./connection.machine.js";
import { type CheckConnection, integrationConnectionRef } from "./connection.messages.js";
import { connections, listIntegrationConnections, listIntegrationsOfPerson } from "./connection.table.js";
import { integrationKind } from "./integration.kind.js";
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

/**
 * Asks connections to check whether they are still permitted, after the integration or a membership changed or the
 * workspace was closed.
 */
const connectionSubscriber: Subscriber<ResourceChanged<"integration"> | MemberChanged | WorkspaceClosed> = {
  name: "connections end with what they are of",
  facts: ["integration.changed", "member.changed", "workspace.closed"],
  handle(fact, turn) {
    const { partition } = turn.self;
    if (fact.name === "member.changed") {
      const { userId } = fact;
      for (const id of listIntegrationsOfPerson(turn, partition, userId)) check(turn, id, userId);
      return;
    }
    const under = fact.name === "integration.changed" ? [fact.id] : [];
    for (const { integrationId, holder } of listIntegrationConnections(turn, partition, under))
      check(turn, integrationId, holder);
  },
};

function check(turn: Turn, integrationId: string, holder: ConnectionHolder): void {
  const message: CheckConnection = { type: "connection.check" };
  turn.send(integrationConnectionRef({ workspaceId: turn.self.partition, integrationId, holder }), message);
}

/** The parts of a resource that this migration step reads. */
interface StoredResource {
  readonly kind: string;
  readonly id: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

type Block = Readonly<Record<string, unknown>>;

/** Adds the fields for authentication and responses to stored webhooks, with their default values. */
const webhookTermsWalks: readonly Walk[] = [
  eachRow<StoredResource>("resource", (row, place) => {
    const webhook = row.kind === "integration" ? (row.fields.webhook as Block | null) : null;
    if (webhook === null || webhook === undefined || "accepted" in webhook) return [];
    const verify = webhook.verify as Block | null;
    const respond = webhook.respond as Block | null;
    const fields = {
      ...row.fields,
      webhook: {
        ...webhook,
        accepted: 202,
        verify: verify && { ...verify, token: null, basic: null },
        respond: respond && { ...respond, methods: ["POST"] },
      },
    };
    return [putRow(place, "resource", [row.kind, row.id], { ...row, fields })];
  }),
];

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
