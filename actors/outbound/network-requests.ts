import type { Clock } from "../../runtime/clock.js";
import type { OutboundAnswer } from "./http-exchange.js";
import type { OutboundRequest } from "./request.js";

/** Why a host of the workspace did not make a request. */
export type NetworkFailureCode = "unreachable" | "not-allowed" | "errored";

/** A request that was given to the workspace's hosts and came to nothing. */
export class NetworkFailure extends Error {
  override readonly name = "NetworkFailure";

  constructor(
    readonly code: NetworkFailureCode,
    message: string,
  ) {
    super(message);
  }
}

/** A request as a host is given it. */
export interface AssignedRequest {
  readonly id: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeoutMs: number;
}

/** What a host says of a request: the answer, or why there is none. */
export type AssignedAnswer =
  | { readonly ok: true; readonly answer: OutboundAnswer }
  | { readonly ok: false; readonly code: NetworkFailureCode; readonly reason: string };

/** A host of a workspace that is connected and makes requests. */
export interface NetworkHost {
  readonly workspaceId: string;
  /** Hands a request over; false when it cannot be sent just now. */
  send(request: AssignedRequest): boolean;
}

interface Pending {
  readonly workspaceId: string;
  readonly request: Omit<AssignedRequest, "timeoutMs">;
  readonly untilMs: number;
  readonly settle: (outcome: OutboundAnswer | NetworkFailure) => void;
  /** Who has it, or null while it waits for someone. */
  host: NetworkHost | null;
}

/** Requests that wait for a host of one workspace at once; more are refused. */
const MAX_WAITING = 1_000;
/** Requests that one host has at once. */
const MAX_ASSIGNED = 64;

/**
 * Requests made by hosts of the workspaces, over their connections. It holds nothing that has to last: whoever asks
 * asks again, under the same id of the receiver's, after a crash or when a host goes away.
 *
 * 1. A request is handed to one host, once: the one of its workspace that has the fewest.
 * 2. With no host to be had it waits for one; when its time is over it fails as `unreachable`, wherever it is.
 * 3. A host that leaves fails what it had.
 */
export class NetworkRequests {
  readonly #hosts = new Map<NetworkHost, Set<string>>();
  readonly #pending = new Map<string, Pending>();
  readonly #clock: Clock;
  #ids = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes a host in; it is given what waits. */
  join(host: NetworkHost): void {
    this.#hosts.set(host, new Set());
    this.#handOut();
  }

  leave(host: NetworkHost): void {
    const handed = this.#hosts.get(host) ?? [];
    this.#hosts.delete(host);
    for (const id of handed) this.#fail(id, "the host that had the request went away");
  }

  /** A host's word on a request that it was given; on any other it is not heard. */
  answered(host: NetworkHost, id: string, said: AssignedAnswer): void {
    if (this.#hosts.get(host)?.has(id) !== true) return;
    this.#settle(id, said.ok ? said.answer : new NetworkFailure(said.code, said.reason));
  }

  /** Has a host of the workspace make the request. Rejects with {@link NetworkFailure} when there is no answer. */
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

  /** Hosts of the workspace that may have more, those with the fewest first. */
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
