import type { Clock } from "../../../runtime/clock.js";
import type { OutboundAnswer } from "./http-exchange.js";
import type { OutboundRequest } from "./request.js";

/** Why a request has no answer. */
export type NetworkFailureCode = "unreachable" | "not-allowed" | "errored";

/** No {@link NetworkHost} made the request, or the request failed. */
export class NetworkFailure extends Error {
  override readonly name = "NetworkFailure";

  constructor(
    readonly code: NetworkFailureCode,
    message: string,
  ) {
    super(message);
  }
}

/** A request as the service sends it to a {@link NetworkHost}. */
export interface AssignedRequest {
  readonly id: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeoutMs: number;
  /** Maximum size of the answer's body, in bytes. */
  readonly maxBodyBytes?: number;
}

/** The result that a {@link NetworkHost} sends for a request: the answer, or why there is none. */
export type AssignedAnswer =
  | { readonly ok: true; readonly answer: OutboundAnswer }
  | { readonly ok: false; readonly code: NetworkFailureCode; readonly reason: string };

/** A connected host of a workspace that makes requests for the service. */
export interface NetworkHost {
  readonly workspaceId: string;
  /** Sends a request to the host; false if that is not possible now. */
  send(request: AssignedRequest): boolean;
}

interface Pending {
  readonly workspace: Workspace;
  readonly request: Omit<AssignedRequest, "timeoutMs">;
  readonly untilMs: number;
  readonly settle: (outcome: OutboundAnswer | NetworkFailure) => void;
  /** The host that makes the request; null while the request waits for one. */
  host: NetworkHost | null;
}

/** The hosts and requests of a workspace. */
interface Workspace {
  readonly id: string;
  /** The workspace's hosts, each with its assigned requests. */
  readonly hosts: Map<NetworkHost, Set<Pending>>;
  /** Requests without a host, oldest first. */
  readonly waiting: Set<Pending>;
}

/** Maximum number of a workspace's requests that wait for a host; further requests are rejected. */
const MAX_WAITING = 1_000;
/** Maximum number of concurrent requests per host. */
const MAX_ASSIGNED = 64;

/**
 * Requests that hosts of the workspaces make, sent over the hosts' connections. Requests are not stored. After a crash
 * or the loss of a host, the caller must send the request again.
 *
 * 1. Each request is sent once, to the least busy host of the workspace that accepts the request.
 * 2. If no host is free, the request waits for a host. After its timeout, a request fails as `unreachable`, whether
 *   it still waits or was already sent.
 * 3. When a host disconnects, the requests that were sent to the host fail.
 * 4. The cost of a step depends only on the hosts of one workspace and the requests assigned in that step.
 */
export class NetworkRequests {
  /** The workspaces that have a host or a request. */
  readonly #workspaces = new Map<string, Workspace>();
  readonly #pending = new Map<string, Pending>();
  readonly #clock: Clock;
  #ids = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Adds a host and sends it waiting requests. */
  join(host: NetworkHost): void {
    const workspace = this.#getWorkspace(host.workspaceId);
    workspace.hosts.set(host, new Set());
    this.#handOut(workspace);
  }

  leave(host: NetworkHost): void {
    const workspace = this.#getWorkspace(host.workspaceId);
    const handed = workspace.hosts.get(host) ?? [];
    workspace.hosts.delete(host);
    for (const { request } of handed) this.#fail(request.id, "the host that had the request disconnected");
    this.#forget(workspace);
  }

  /**
   * Handles the result that a host sends for a request. Ignores the result if the request is not assigned to this host.
   */
  answered(host: NetworkHost, id: string, result: AssignedAnswer): void {
    if (this.#pending.get(id)?.host !== host) return;
    this.#settle(id, result.ok ? result.answer : new NetworkFailure(result.code, result.reason));
  }

  /** Sends a request through a host of the workspace. Rejects with {@link NetworkFailure} if there is no answer. */
  post(workspaceId: string, given: OutboundRequest & { readonly body: string }) {
    const { url, headers, body, timeoutMs, signal, maxBodyBytes } = given;
    return new Promise<OutboundAnswer>((resolve, reject) => {
      const workspace = this.#getWorkspace(workspaceId);
      if (workspace.waiting.size >= MAX_WAITING) {
        reject(new NetworkFailure("unreachable", "too many requests are waiting for a host of the workspace"));
        return;
      }
      this.#ids += 1;
      const id = `req-${this.#ids}`;
      const untilMs = this.#clock.now() + timeoutMs;
      const abort = () => this.#fail(id, "the request was cancelled");
      const cancel = this.#clock.at(untilMs, () => this.#fail(id, this.#whyLate(id)));
      const settle = (outcome: OutboundAnswer | NetworkFailure) => {
        cancel();
        signal.removeEventListener("abort", abort);
        if (outcome instanceof NetworkFailure) reject(outcome);
        else resolve(outcome);
      };
      const limit = maxBodyBytes === undefined ? {} : { maxBodyBytes };
      const request = { id, url: url.href, headers, body, ...limit };
      const pending: Pending = { workspace, request, untilMs, settle, host: null };
      this.#pending.set(id, pending);
      workspace.waiting.add(pending);
      signal.addEventListener("abort", abort);
      if (signal.aborted) abort();
      else this.#handOut(workspace);
    });
  }

  #whyLate(id: string): string {
    return this.#pending.get(id)?.host === null
      ? "no host of the workspace took the request in time"
      : "there was no response in the time left";
  }

  #handOut({ hosts, waiting }: Workspace): void {
    for (const pending of waiting) {
      const timeoutMs = pending.untilMs - this.#clock.now();
      if (timeoutMs <= 0) continue;
      const request = { ...pending.request, timeoutMs };
      const host = freest(hosts).find((one) => one.send(request));
      // If no host accepts this request now, no host accepts the requests after it.
      if (host === undefined) return;
      waiting.delete(pending);
      pending.host = host;
      hosts.get(host)?.add(pending);
    }
  }

  #getWorkspace(id: string): Workspace {
    const known = this.#workspaces.get(id);
    if (known !== undefined) return known;
    const workspace: Workspace = { id, hosts: new Map(), waiting: new Set() };
    this.#workspaces.set(id, workspace);
    return workspace;
  }

  /** Forgets the workspace if it has no hosts and no waiting requests. Without hosts, no request is assigned either. */
  #forget({ id, hosts, waiting }: Workspace): void {
    if (hosts.size === 0 && waiting.size === 0) this.#workspaces.delete(id);
  }

  #fail(id: string, reason: string): void {
    this.#settle(id, new NetworkFailure("unreachable", reason));
  }

  #settle(id: string, outcome: OutboundAnswer | NetworkFailure): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    const { workspace, host } = pending;
    this.#pending.delete(id);
    workspace.waiting.delete(pending);
    if (host !== null) workspace.hosts.get(host)?.delete(pending);
    pending.settle(outcome);
    if (host !== null) this.#handOut(workspace);
    this.#forget(workspace);
  }
}

/** Returns the hosts that accept more requests, the hosts with the fewest requests first. */
function freest(hosts: Workspace["hosts"]): NetworkHost[] {
  return [...hosts]
    .filter(([, handed]) => handed.size < MAX_ASSIGNED)
    .sort(([, one], [, other]) => one.size - other.size)
    .map(([host]) => host);
}
