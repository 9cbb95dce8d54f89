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
  readonly workspaceId: string;
  readonly request: Omit<AssignedRequest, "timeoutMs">;
  readonly untilMs: number;
  readonly settle: (outcome: OutboundAnswer | NetworkFailure) => void;
  /** The host that makes it; null while it waits for one. */
  host: NetworkHost | null;
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
 */
export class NetworkRequests {
  readonly #hosts = new Map<NetworkHost, Set<string>>();
  readonly #pending = new Map<string, Pending>();
  readonly #clock: Clock;
  #ids = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Adds a host, and sends it waiting requests. */
  join(host: NetworkHost): void {
    this.#hosts.set(host, new Set());
    this.#handOut();
  }

  leave(host: NetworkHost): void {
    const handed = this.#hosts.get(host) ?? [];
    this.#hosts.delete(host);
    for (const id of handed) this.#fail(id, "the host that had the request went away");
  }

  /** Handles a host's result; ignored for a request that the host does not have. */
  answered(host: NetworkHost, id: string, result: AssignedAnswer): void {
    if (this.#hosts.get(host)?.has(id) !== true) return;
    this.#settle(id, result.ok ? result.answer : new NetworkFailure(result.code, result.reason));
  }

  /** Lets a host of the workspace make the request. Rejects with {@link NetworkFailure} when there is no answer. */
  post(workspaceId: string, { url, headers, body, timeoutMs, signal }: OutboundRequest & { readonly body: string }) {
    return new Promise<OutboundAnswer>((resolve, reject) => {
      if (this.#waitingIn(workspaceId) >= MAX_WAITING) {
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
      this.#pending.set(id, {
        workspaceId,
        request: { id, url: url.href, headers, body },
        untilMs,
        settle,
        host: null,
      });
      signal.addEventListener("abort", abort);
      if (signal.aborted) abort();
      else this.#handOut();
    });
  }

  #whyLate(id: string): string {
    return this.#pending.get(id)?.host === null
      ? "no host of the workspace took it in time"
      : "there was no response in the time left";
  }

  #waitingIn(workspaceId: string): number {
    let count = 0;
    for (const pending of this.#pending.values()) {
      if (pending.host === null && pending.workspaceId === workspaceId) count += 1;
    }
    return count;
  }

  #handOut(): void {
    for (const pending of this.#pending.values()) {
      if (pending.host !== null) continue;
      const timeoutMs = pending.untilMs - this.#clock.now();
      const request = { ...pending.request, timeoutMs };
      const host = timeoutMs > 0 ? this.#freest(pending.workspaceId).find((one) => one.send(request)) : undefined;
      if (host === undefined) continue;
      pending.host = host;
      this.#hosts.get(host)?.add(pending.request.id);
    }
  }

  /** Hosts of the workspace that take more requests, those with the fewest first. */
  #freest(workspaceId: string): NetworkHost[] {
    return [...this.#hosts]
      .filter(([host, handed]) => host.workspaceId === workspaceId && handed.size < MAX_ASSIGNED)
      .sort(([, one], [, other]) => one.size - other.size)
      .map(([host]) => host);
  }

  #fail(id: string, reason: string): void {
    this.#settle(id, new NetworkFailure("unreachable", reason));
  }

  #settle(id: string, outcome: OutboundAnswer | NetworkFailure): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    if (pending.host !== null) this.#hosts.get(pending.host)?.delete(id);
    pending.settle(outcome);
    if (pending.host !== null) this.#handOut();
  }
}
