import type { WorkloadVerifier } from "../actors/access/workload-token.js";
import type { Caller } from "../actors/caller.js";
import type { AllowList } from "../actors/outbound/allow-list.js";
import type { CodeHost } from "../actors/outbound/code-host.js";
import type { NetworkRequests } from "../actors/outbound/network-requests.js";
import type { AuthorizationServers } from "../actors/outbound/oauth-server.js";
import type { Refusal } from "../actors/refusal.js";
import type { Kind } from "../actors/resources/kind.js";
import type { Sealer } from "../actors/sealer.js";
import type { Runtime, RuntimeLog } from "../runtime/runtime.js";
import type { Metrics } from "./process/metrics.js";
import type { Credentials } from "./transport/server.js";

/** What the edge is made of, by what it is for. An area's routes and sockets take the parts that they name. */
export interface EdgeParts {
  readonly runtime: Runtime;
  readonly kinds: readonly Kind[];
  readonly sealer: Sealer;
  readonly site: SiteParts;
  readonly hosts: HostParts;
  readonly codeHost: CodeHostParts;
  readonly operation: OperationParts;
}

/** Where the service is reached, and who by. */
interface SiteParts {
  readonly baseUrl: () => string;
  /** Whose people may sign in; null admits any. */
  readonly signInDomains: readonly string[] | null;
  readonly callerOf: (credentials: Credentials) => Caller | null | Refusal;
}

/** Other hosts: which are asked, and what they say of themselves. */
interface HostParts {
  readonly allowList: AllowList;
  /** Has hosts of the workspaces make requests. */
  readonly network: NetworkRequests;
  readonly verifier: WorkloadVerifier;
  /** What hosts say of how they link accounts. */
  readonly servers: AuthorizationServers;
}

interface CodeHostParts {
  /** Null when none is set up. */
  readonly codeHost: CodeHost | null;
  /** What it signs its deliveries with; null takes none. */
  readonly secret: string | null;
}

/** What who runs the service watches and sets. */
interface OperationParts {
  readonly log: RuntimeLog;
  readonly metrics: Metrics;
  readonly metricsToken: string | null;
  readonly isReady: () => boolean;
  /** How long a runner's claim lasts without a sign of it, in milliseconds. */
  readonly leaseMs: number;
}
