import type { Clock } from "../../runtime/clock.js";
import type { OutboundAnswer } from "./http-exchange.js";
import type { OutboundRequest } from "./request.js";

/** Why a host of the workspace did not make a request. */
export type NetworkFailureCode = "unreachable" | "not-allowed" | "errored";

/** A request by a host of the workspace failed. */
export class NetworkFailure extends Error {
  override readonly name = "NetworkFailure";

  constructor(
    readonly code: NetworkFailureCode,
    message: string,
  ) {
    super(message);
  }
}

/** A request as it is sent to a host. */
export interface AssignedRequest {
  readonly id: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeoutMs: number;
  /** Most bytes of the answer's body. */
  readonly maxBodyBytes?: number;
}

/** A host's result for a request: the answer, or why there is none. */
export type AssignedAnswer =
  | { readonly ok: true; readonly answer: OutboundAnswer }
  | { readonly ok: false; readonly code: NetworkFailureCode; readonly reason: string };

/** A connected host of a workspace that makes requests. */
export interface NetworkHost {
  readonly workspaceId: string;
  /** Sends a request to the host; false when that is not possible now. */
  send(request: AssignedRequest): boolean;
}

interface Pending {
  readonly workspace: Workspace;
  readonly request: Omit<AssignedRequest, "timeoutMs">;
  readonly untilMs: number;
  readonly settle: (outcome: OutboundAnswer | NetworkFailure) => void;
  /** The host that makes it; null while it waits for one. */
  host: NetworkHost | null;
}

/** The hosts of a workspace, and its requests. */
interface Workspace {
  readonly id: string;
  /** With the requests that each has. */
  readonly hosts: Map<NetworkHost, Set<Pending>>;
  /** Oldest first. */
  readonly waiting: Set<Pending>;
}

/** Most requests of one workspace that wait for a host; more are refused. */
const MAX_WAITING = 1_000;
/** Most requests that one host makes at once. */
const MAX_ASSIGNED = 64;

/**
 * Requests that hosts of the workspaces make, sent over the hosts' connections. Nothing here is stored: after a crash
 * or the loss of a host, the caller sends the request again, under the same id for its receiver.
 *
 * 1. A request is sent to one host, once: the host of its workspace that has the fewest requests.
 * 2. Without a free host it waits for one. When its time is over it fails as `unreachable`, waiting or sent.
 * 3. When a host disconnects, its requests fail.
 * 4. A step looks at the hosts of one workspace and at the requests that it hands out, however many others there are.
 */
export class NetworkRequests {
  /** Those that have a host or a request. */
  readonly #workspaces = new Map<string, Workspace>();
  readonly #pending = new Map<string, Pending>();
  readonly #clock: Clock;
  #ids = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Adds a host, and sends it waiting requests. */
  join(host: NetworkHost): void {
    const workspace = this.#workspaceOf(host.workspaceId);
    workspace.hosts.set(host, new Set());
    this.#handOut(workspace);
  }

  leave(host: NetworkHost): void {
    const workspace = this.#workspaceOf(host.workspaceId);
    const handed = workspace.hosts.get(host) ?? [];
    workspace.hosts.delete(host);
    for (const { request } of handed) this.#fail(request.id, "the host that had the request went away");
    this.#forget(workspace);
  }

  /** Handles a host's result; ignored for a request that the host does not have. */
  answered(host: NetworkHost, id: string, result: AssignedAnswer): void {
    if (this.#pending.get(id)?.host !== host) return;
    this.#settle(id, result.ok ? result.answer : new NetworkFailure(result.code, result.reason));
  }

  /** Lets a host of the workspace make the request. Rejects with {@link NetworkFailure} when there is no answer. */
  post(workspaceId: string, given: OutboundRequest & { readonly body: string }) {
    const { url, headers, body, timeoutMs, signal, maxBodyBytes } = given;
    return new Promise<OutboundAnswer>((resolve, reject) => {
      const workspace = this.#workspaceOf(workspaceId);
      if (workspace.waiting.size >= MAX_WAITING) {
        reject(new NetworkFailure("unreachable", "too many requests wait for a host of the workspace"));
        return;
      }
      this.#ids += 1;
      const id = `req-${this.#ids}`;
      const untilMs = this.#clock.now() + timeoutMs;
      const abort = () => this.#fail(id, "the request was given up");
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
      ? "no host of the workspace took it in time"
      : "there was no response in the time left";
  }

  #handOut({ hosts, waiting }: Workspace): void {
    for (const pending of waiting) {
      const timeoutMs = pending.untilMs - this.#clock.now();
      if (timeoutMs <= 0) continue;
      const request = { ...pending.request, timeoutMs };
      const host = freest(hosts).find((one) => one.send(request));
      // What no host takes now, none takes for the next one either.
      if (host === undefined) return;
      waiting.delete(pending);
      pending.host = host;
      hosts.get(host)?.add(pending);
    }
  }

  #workspaceOf(id: string): Workspace {
    const known = this.#workspaces.get(id);
    if (known !== undefined) return known;
    const workspace: Workspace = { id, hosts: new Map(), waiting: new Set() };
    this.#workspaces.set(id, workspace);
    return workspace;
  }

  /** A workspace without hosts has no request with one. */
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

/** The hosts that take more requests, those with the fewest first. */
function freest(hosts: Workspace["hosts"]): NetworkHost[] {
  return [...hosts]
    .filter(([, handed]) => handed.size < MAX_ASSIGNED)
    .sort(([, one], [, other]) => one.size - other.size)
    .map(([host]) => host);
}
