import type { AssignedRequest, NetworkHost, NetworkRequests } from "../../actors/outbound/network-requests.js";
import type { RunnerFrame } from "../../actors/runners/protocol.js";

/** A connected runner that makes requests in its network. */
export class RunnerNetworkHost {
  readonly #network: NetworkRequests;
  #host: NetworkHost | null = null;

  constructor(network: NetworkRequests) {
    this.#network = network;
  }

  /** Offers the runner for requests of its workspace; `send` returns false when it cannot take one now. */
  join(workspaceId: string, send: (request: AssignedRequest) => boolean): void {
    this.#host = { workspaceId, send };
    this.#network.join(this.#host);
  }

  /** Passes on the runner's response to a request. */
  answer({ id, answer, failure }: Extract<RunnerFrame, { frame: "response" }>): void {
    if (this.#host === null) return;
    const nothing = { ok: false, code: "errored", reason: "the host said nothing of it" } as const;
    const failed = failure === null ? nothing : ({ ok: false, ...failure } as const);
    this.#network.answered(this.#host, id, answer === null ? failed : { ok: true, answer });
  }

  leave(): void {
    if (this.#host !== null) this.#network.leave(this.#host);
    this.#host = null;
  }
}
