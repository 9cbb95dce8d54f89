import { createWorkloadVerifier, type WorkloadVerifier } from "../../actors/access/tokens/workload-token.js";
import { MAX_OUTPUT_BYTES } from "../../actors/hooks/delivery/hook-answer.js";
import { type CodeHost, createCodeHost } from "../../actors/outbound/code-host/code-host.js";
import { MAX_ANSWER_BYTES } from "../../actors/outbound/code-host/code-host-requests.js";
import { codeHostAddresses } from "../../actors/outbound/code-host/code-host-settings.js";
import {
  type AllowList,
  ChangingAllowList,
  parseAllowList,
  toIssuerAllowList,
} from "../../actors/outbound/http/allow-list.js";
import { NetworkRequests } from "../../actors/outbound/http/network-requests.js";
import { createOutbound, type Outbound } from "../../actors/outbound/http/request.js";
import type { TraceHeaders } from "../../actors/outbound/http/trace-headers.js";
import { createModel, type Model } from "../../actors/outbound/models/model.js";
import { MAX_MODEL_ANSWER_BYTES } from "../../actors/outbound/models/model-answer.js";
import { modelAddresses } from "../../actors/outbound/models/model-settings.js";
import {
  type AuthorizationServers,
  createAuthorizationServers,
  MAX_OAUTH_ANSWER_BYTES,
} from "../../actors/outbound/oauth/oauth-server.js";
import { createIssuerKeys, MAX_DOCUMENT_BYTES } from "../../actors/outbound/oauth/oidc-discovery.js";
import type { Clock } from "../../runtime/clock.js";
import type { Config } from "../wire/config.js";
import type { ServiceLog } from "../wire/service-log.js";

/** The clients for requests to other hosts, by purpose. */
export interface Outbounds {
  readonly allowList: ChangingAllowList;
  /** For the requests of hooks and integrations. */
  readonly hooks: Outbound;
  /**
   * For requests to hosts that only a workspace's own network can reach. Runners in that network send these requests.
   */
  readonly network: NetworkRequests;
  /** For requests to the hosts of linked accounts and to their authorization servers. */
  readonly accounts: { readonly outbound: Outbound; readonly servers: AuthorizationServers };
  /** For requests to the issuers of workload tokens. */
  readonly verifier: WorkloadVerifier;
  /** Null if no code host is configured. */
  readonly codeHost: CodeHost | null;
  /** Null if no model is configured. */
  readonly model: Model | null;
}

export interface OutboundOptions {
  readonly config: Pick<Config, "outboundAllow" | "codeHost" | "model">;
  readonly clock: Clock;
  readonly log: ServiceLog;
  readonly traceHeaders: TraceHeaders | undefined;
  /** Called for each created client, with the function that closes the client. */
  readonly onOpen: (close: () => Promise<void>) => void;
}

/** Creates the clients. Sends no request. */
export function openOutbound({ config, clock, log, traceHeaders, onOpen }: OutboundOptions): Outbounds {
  const now = () => clock.now();
  const open = (allowed: AllowList, maxBodyBytes: number): Outbound => {
    const outbound = createOutbound({ allowList: allowed, maxBodyBytes });
    onOpen(() => outbound.close());
    return outbound;
  };
  const allowList = new ChangingAllowList(parseAllowList(config.outboundAllow));
  const hooks = open(allowList, MAX_OUTPUT_BYTES);
  const toIssuers = open(toIssuerAllowList(allowList), MAX_DOCUMENT_BYTES);
  const { codeHost: settings } = config;
  const codeHost =
    settings === null
      ? null
      : createCodeHost({ settings, outbound: open(codeHostAddresses(settings), MAX_ANSWER_BYTES), now, log });
  const model =
    config.model === null
      ? null
      : createModel({
          settings: config.model,
          now,
          log,
          traceHeaders,
          outbound: open(modelAddresses(config.model), MAX_MODEL_ANSWER_BYTES),
        });
  const outbound = open(allowList, MAX_OAUTH_ANSWER_BYTES);
  return {
    allowList,
    hooks,
    codeHost,
    model,
    network: new NetworkRequests(clock),
    accounts: { outbound, servers: createAuthorizationServers({ outbound, now }) },
    verifier: createWorkloadVerifier({ keys: createIssuerKeys({ outbound: toIssuers, now }), now }),
  };
}
