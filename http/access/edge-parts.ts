import type { WorkloadVerifier } from "../../actors/access/tokens/workload-token.js";
import type { JudgingSetup } from "../../actors/lines/fingerprint.js";
import type { CodeHost } from "../../actors/outbound/code-host/code-host.js";
import type { AllowList } from "../../actors/outbound/http/allow-list.js";
import type { NetworkRequests } from "../../actors/outbound/http/network-requests.js";
import type { AuthorizationServers } from "../../actors/outbound/oauth/oauth-server.js";
import type { Kind } from "../../actors/resources/kind.js";
import type { Sealer } from "../../actors/sealer.js";
import type { Runtime, RuntimeLog } from "../../runtime/runtime.js";
import type { Reported } from "../../runtime/turns/turn.js";
import type { CallerNow, Credentials } from "../transport/entry.js";
import type { Metrics } from "../wire/metrics.js";
import type { Route } from "../wire/route.js";
import type { ExpiredCredentials } from "./expired-credentials.js";

/**
 * The dependencies of the HTTP layer, grouped by purpose. The routes and sockets of an area receive only the groups
 * that their functions name.
 */
export interface EdgeParts {
  readonly runtime: Runtime;
  readonly kinds: readonly Kind[];
  readonly sealer: Sealer;
  readonly judging: JudgingSetup;
  readonly site: SiteParts;
  readonly hosts: HostParts;
  readonly codeHost: CodeHostParts;
  readonly operation: OperationParts;
}

/** The service's address, and the authentication of its callers. */
interface SiteParts {
  readonly baseUrl: () => string;
  /** Mail domains that may sign in; null allows all domains. */
  readonly signInDomains: readonly string[] | null;
  /** Credentials that were refused as expired. */
  readonly expired: ExpiredCredentials;
  readonly callerOf: (credentials: Credentials) => CallerNow;
}

interface HostParts {
  readonly allowList: AllowList;
  /** Sends requests through runners, in the networks of their workspaces. */
  readonly network: NetworkRequests;
  readonly verifier: WorkloadVerifier;
  /** The authorization servers of linked accounts. */
  readonly servers: AuthorizationServers;
}

interface CodeHostParts {
  /** Null if no code host is configured. */
  readonly codeHost: CodeHost | null;
  /** The secret that the code host signs its deliveries with. Null refuses all deliveries. */
  readonly secret: string | null;
}

/** What a service reports about itself to its users. */
export interface ServiceState {
  readonly release: string;
  readonly storeFormat: number;
  readonly startedAtMs: number;
  /** When the store was last backed up; null if that is not known. */
  readonly backupAtMs: number | null;
}

interface OperationParts {
  readonly log: RuntimeLog;
  readonly metrics: Metrics;
  /** Receives the reports about work outside turns. */
  readonly reported: (reported: Reported) => void;
  readonly metricsToken: string | null;
  readonly isReady: () => boolean;
  readonly state: () => ServiceState;
  /** Lease of a runner's claims, in milliseconds. */
  readonly leaseMs: number;
}

/** The routes of an area, or of a part of it. */
export interface RouteEntry {
  /** The part of the API that the routes belong to. Omitted if each route names its own part. */
  readonly tag?: string;
  readonly make: (parts: EdgeParts) => readonly Route[];
}
